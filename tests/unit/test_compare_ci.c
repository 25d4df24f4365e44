/* What build servers read of a comparison. */
#include "harness/commands/compare/compare_ci.h"
#include "tests/unit/support.h"

#include <stdio.h>

static struct delta regressed(int context)
{
    struct delta d = delta_of("v3", context, METRIC_PREFILL_S);
    d.verdict = VERDICT_REGRESSED;
    d.reason = REASON_CHANGED;
    d.reference.value = 1;
    d.now.median = d.estimate.ratio = 1.08;
    return d;
}

static void holds(void (*write)(const struct comparison *, bool, struct buf *), int context,
                  const char *words)
{
    struct delta d = regressed(context);
    struct comparison c = {.now_id = "now", .primary = METRIC_PREFILL_S, .deltas = &d, .count = 1};
    AUTO(buf_release) struct buf out = {.max = 4096};
    write(&c, false, &out);
    if (!strstr(buf_str(&out), words))
        fail_msg("\"%s\" is not in:\n%s", words, buf_str(&out));
}

/* What is written of a comparison of runs of these tickets has these words, or not. */
static void of_tickets(void (*write)(const struct comparison *, bool, struct buf *), const char *base,
                       const char *now, const char *words, bool has)
{
    struct delta d = regressed(4096);
    struct comparison c = {.now_id = "now", .primary = METRIC_PREFILL_S, .deltas = &d, .count = 1};
    AUTO(buf_release) struct buf out = {.max = 4096};
    snprintf(c.base_ticket, sizeof c.base_ticket, "%s", base);
    snprintf(c.now_ticket, sizeof c.now_ticket, "%s", now);
    write(&c, false, &out);
    if ((strstr(buf_str(&out), words) != NULL) != has)
        fail_msg("\"%s\" is %sin:\n%s", words, has ? "not " : "", buf_str(&out));
}

TEST(what_has_no_context_is_named_without)
{
    holds(compare_write_junit, 4096, "classname=\"v3\" name=\"context 4096 prefill_s\">");
    holds(compare_write_junit, 0, "classname=\"v3\" name=\"prefill_s\">");
    holds(compare_write_github, 4096, "::error title=v3 at 4096 regressed::prefill_s +8.0 %25");
    holds(compare_write_github, 0, "::error title=v3 regressed::prefill_s +8.0 %25");
}

static void writes(const struct delta *d, bool suspects, const char *junit, const char *github)
{
    const struct comparison c = {
        .now_id = "now", .primary = METRIC_PREFILL_S, .deltas = (struct delta *)d, .count = 1};
    AUTO(buf_release) struct buf xml = {.max = 4096}, lines = {.max = 4096};
    compare_write_junit(&c, suspects, &xml);
    compare_write_github(&c, suspects, &lines);
    if (!strstr(buf_str(&xml), junit))
        fail_msg("\"%s\" is not in:\n%s", junit, buf_str(&xml));
    if (!strstr(buf_str(&lines), github))
        fail_msg("\"%s\" is not in:\n%s", github, buf_str(&lines));
}

TEST(a_suspect_fails_only_on_request)
{
    struct delta d = regressed(64);
    d.verdict = VERDICT_SUSPECTED;
    d.reason = REASON_SUSPECT;
    d.estimate.method = METHOD_NIGHTS;
    writes(&d, false, "failures=\"0\">", "::warning title=v3 at 64 suspected::prefill_s +8.0 %25");
    writes(&d, false, "<system-out>suspected: +8.0 %",
           "not settled yet: more nights like it would have to follow");
    writes(&d, true, "<failure type=\"suspected\" message=\"+8.0 %", "::error title=v3 at 64 suspected::");
}

TEST(a_suspect_that_did_not_come_back_is_told_once)
{
    struct delta d = regressed(64);
    d.verdict = VERDICT_UNCHANGED;
    d.reason = REASON_BELOW;
    d.estimate.method = METHOD_NIGHTS;
    d.stand.gone = 1761696000000; /* 2025-10-29 */
    writes(&d, false, "what was suspected on 2025-10-29 did not recur",
           "::notice title=v3 at 64 unchanged::prefill_s +8.0 %25");
}

TEST(what_failed_before_and_fails_now_is_a_failure)
{
    struct delta d = delta_of("v3", 64, METRIC_PREFILL_S);
    d.verdict = VERDICT_FAILING;
    d.reason = REASON_STATUS;
    d.base = d.now = (struct delta_side){
        .present = true, .status = STATUS_TIMEOUT, .failed = 3, .of = 3, .gpu = "", .code = "", .said = ""};
    writes(&d, false, "<failure type=\"failing\" message=\"still TIMEOUT (3 of 3 repetitions)\"/>",
           "::error title=v3 at 64 still failing::prefill_s still TIMEOUT");
}

TEST(beside_confirmed_stands_the_size_that_was_measured_again)
{
    struct delta d = regressed(64);
    d.estimate.method = METHOD_NIGHTS;
    d.estimate.ratio = 1.156;
    d.confirmation = CONFIRM_STANDS;
    d.again = 1.083;
    writes(&d, false, "message=\"+8.3 % (tonight +15.6 %) (1 -&gt; 1.08 s)",
           "prefill_s +8.3 %25 (tonight +15.6 %25)");
}

TEST(a_common_factor_of_most_cells_is_titled_so)
{
    struct comparison c = {
        .now_id = "now",
        .primary = METRIC_PREFILL_S,
        .shift = {.known = true, .found = true, .worse = true, .ratio = 1.1, .cells = 9, .agree = 6}};
    AUTO(buf_release) struct buf out = {.max = 4096};
    compare_write_github(&c, false, &out);
    assert_non_null(strstr(buf_str(&out), "::error title=most cells::Most cells are"));
    buf_clear(&out);
    c.shift.agree = 9;
    compare_write_github(&c, false, &out);
    assert_non_null(strstr(buf_str(&out), "::error title=all cells::All cells are"));
}

/* A mistyped run id would otherwise show as a page of changes. */
TEST(runs_of_two_tickets_are_told_apart)
{
    const char *words = "The runs are of different tickets: the base of B3.89, the other of B3.90.";
    char line[256];
    snprintf(line, sizeof line, "<system-out>%s</system-out>\n</testsuite>", words);
    of_tickets(compare_write_junit, "B3.89", "B3.90", line, true);
    of_tickets(compare_write_junit, "B3.89", "B3.90", "<property name=\"base_ticket\" value=\"B3.89\"/>",
               true);
    of_tickets(compare_write_junit, "B3.89", "B3.90", "<property name=\"now_ticket\" value=\"B3.90\"/>",
               true);
    of_tickets(compare_write_junit, "a&b", "a", "value=\"a&amp;b\"", true);
    snprintf(line, sizeof line, "::warning title=different tickets::%s\n", words);
    of_tickets(compare_write_github, "B3.89", "B3.90", line, true);
}

TEST(one_ticket_needs_no_word)
{
    of_tickets(compare_write_junit, "a", "a", "different tickets", false);
    of_tickets(compare_write_junit, "a", "a", "<property name=\"base_ticket\" value=\"a\"/>", true);
    of_tickets(compare_write_junit, "", "a", "base_ticket", false);
    of_tickets(compare_write_junit, "", "a", "<property name=\"now_ticket\" value=\"a\"/>", true);
    of_tickets(compare_write_github, "a", "a", "different tickets", false);
    of_tickets(compare_write_github, "", "a", "different tickets", false);
}
