#include "harness/commands/compare/compare_ci.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "reports/tables/causes.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "results/judge/confirm.h"

#include <string.h>

enum { SHIFT_TEXT_MAX = 4096 };

/* Whether the cell makes the command fail; must agree with finish_code(). */
static bool is_bad(const struct comparison *c, const struct delta *d, bool suspects)
{
    switch (d->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
        return d->metric == c->primary;
    case VERDICT_NOISY: /* slow because of the node, which fails the comparison */
        return confirm_outcome(d) == CONFIRM_NODE && d->metric == c->primary;
    case VERDICT_SUSPECTED:
        return suspects && d->metric == c->primary;
    case VERDICT_IMPROVED:
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_NEW:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        return false;
    }
    return false;
}

/* Writes a failed test case that is no cell: a factor common to all cells, or a GPU that became worse. */
static void write_junit_failure(const char *class, const char *name, const struct buf *why, struct buf *out)
{
    buf_printf(out, "  <testcase classname=\"%s\" name=\"", class);
    escape_xml(out, name);
    buf_puts(out, "\"><failure type=\"regressed\" message=\"");
    escape_xml(out, buf_str(why));
    buf_puts(out, "\"/></testcase>\n");
}

static void write_junit_shift(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_shift(c, REPORT_EN, &text);
    write_junit_failure("all cells", "common factor", &text, out);
}

static void write_junit_cards(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    for (size_t i = 0; i < c->cards.count; i++) {
        const struct card_shift *card = &c->cards.items[i];
        if (!card->worse)
            continue;
        buf_clear(&text);
        verdict_card(c, card, REPORT_EN, &text);
        write_junit_failure("GPU", card->gpu, &text, out);
    }
}

static int worse_cards(const struct card_shifts *cards)
{
    int worse = 0;
    for (size_t i = 0; i < cards->count; i++)
        worse += cards->items[i].worse;
    return worse;
}

static void write_junit_property(const char *name, const char *value, struct buf *out)
{
    if (!*value)
        return;
    buf_printf(out, "    <property name=\"%s\" value=\"", name);
    escape_xml(out, value);
    buf_puts(out, "\"/>\n");
}

static void write_junit_tickets(const struct comparison *c, struct buf *out)
{
    if (!*c->base_ticket && !*c->now_ticket)
        return;
    buf_puts(out, "  <properties>\n");
    write_junit_property("base_ticket", c->base_ticket, out);
    write_junit_property("now_ticket", c->now_ticket, out);
    buf_puts(out, "  </properties>\n");
}

static void write_junit_note(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_tickets(c, REPORT_EN, &text);
    if (text.len) {
        buf_puts(out, "  <system-out>");
        escape_xml(out, buf_str(&text));
        buf_puts(out, "</system-out>\n");
    }
}

void compare_write_junit(const struct comparison *c, bool suspects, struct buf *out)
{
    int of_all = comparison_shift_regressed(c) + worse_cards(&c->cards), failures = of_all;
    for (size_t i = 0; i < c->count; i++)
        failures += is_bad(c, &c->deltas[i], suspects);
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kernsweep ");
    escape_xml(out, c->now_id);
    buf_printf(out, "\" tests=\"%zu\" failures=\"%d\">\n", c->count + (size_t)of_all, failures);
    write_junit_tickets(c, out);
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        buf_puts(out, "  <testcase classname=\"");
        escape_xml(out, d->variant);
        buf_puts(out, "\" name=\"");
        if (d->context)
            buf_printf(out, "context %d ", d->context);
        buf_printf(out, "%s\">", metric_info(d->metric)->name);
        buf_printf(out, is_bad(c, d, suspects) ? "<failure type=\"%s\" message=\"" : "<system-out>%s: ",
                   verdict_name(d->verdict));
        escape_xml(out, verdict_reason(d, REPORT_EN).s);
        buf_puts(out, is_bad(c, d, suspects) ? "\"/></testcase>\n" : "</system-out></testcase>\n");
    }
    if (comparison_shift_regressed(c))
        write_junit_shift(c, out);
    write_junit_cards(c, out);
    write_junit_note(c, out);
    buf_puts(out, "</testsuite>\n");
}

/* GitHub decodes escaped line ends everywhere, but escaped separators only in properties; in a message, they
 * would be shown as escapes. */
static void github_text(struct buf *out, const char *s, const char *special)
{
    for (; *s; s++) {
        if (strchr(special, *s))
            buf_printf(out, "%%%02X", (unsigned char)*s);
        else
            buf_putc(out, *s);
    }
}

static const char *github_level(const struct comparison *c, const struct delta *d, bool suspects)
{
    if (is_bad(c, d, suspects))
        return "error";
    switch (d->verdict) {
    case VERDICT_NOISY:
    case VERDICT_REGRESSED:
    case VERDICT_SUSPECTED:
        return "warning";
    case VERDICT_IMPROVED:
    case VERDICT_ACCEPTED:
    case VERDICT_NEW:
    case VERDICT_FIXED:
        return "notice";
    case VERDICT_UNCHANGED:
        return d->stand.gone || d->accepted ? "notice" : NULL;
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_COUNT:
        return NULL;
    }
    return NULL;
}

static void write_github_tickets(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_tickets(c, REPORT_EN, &text);
    if (text.len) {
        buf_puts(out, "::warning title=different tickets::");
        github_text(out, buf_str(&text), "%\r\n");
        buf_putc(out, '\n');
    }
}

static void write_github_shift(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_shift(c, REPORT_EN, &text);
    if (text.len) {
        buf_printf(out, "::%s title=%s cells::", comparison_shift_regressed(c) ? "error" : "notice",
                   c->shift.found && c->shift.agree == c->shift.cells ? "all" : "most");
        github_text(out, buf_str(&text), "%\r\n");
        buf_putc(out, '\n');
    }
}

static void write_github_cards(const struct comparison *c, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    for (size_t i = 0; i < c->cards.count; i++) {
        const struct card_shift *card = &c->cards.items[i];
        buf_clear(&text);
        verdict_card(c, card, REPORT_EN, &text);
        buf_printf(out, "::%s title=GPU ", card->worse ? "error" : "notice");
        github_text(out, card->gpu, "%\r\n:,");
        buf_puts(out, "::");
        github_text(out, buf_str(&text), "%\r\n");
        buf_putc(out, '\n');
    }
}

static void write_github_causes(const struct comparison *c, const struct delta *d, struct buf *out)
{
    const struct cell_causes *found =
        d->metric == c->primary ? causes_of(&c->causes, d->variant, d->context) : NULL;
    if (!found)
        return;
    AUTO(buf_release) struct buf text = {.max = WHY_TEXT_MAX};
    cause_sentence(found, REPORT_EN, &text);
    buf_puts(out, " Why: ");
    github_text(out, buf_str(&text), "%\r\n");
}

void compare_write_github(const struct comparison *c, bool suspects, struct buf *out)
{
    write_github_tickets(c, out);
    write_github_shift(c, out);
    write_github_cards(c, out);
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        const char *level = github_level(c, d, suspects);
        if (!level)
            continue;
        buf_printf(out, "::%s title=", level);
        github_text(out, d->variant, "%\r\n:,");
        if (d->context)
            buf_printf(out, " at %d", d->context);
        buf_printf(out, " %s::%s ", verdict_word(d->verdict, REPORT_EN), metric_info(d->metric)->name);
        github_text(out, verdict_reason(d, REPORT_EN).s, "%\r\n");
        write_github_causes(c, d, out);
        buf_putc(out, '\n');
    }
}
