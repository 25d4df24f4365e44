/* bisect_code: the machine code of an answer beside that of the good commit before it. */
#include "harness/commands/measure/bisect_code.h"
#include "harness/commands/measure/bisect_output.h"
#include "tests/unit/results_support.h"

#define HASH_A "1111111111111111111111111111111111111111111111111111111111111111"
#define HASH_B "2222222222222222222222222222222222222222222222222222222222222222"

/* A run that built v3 from these kernels. */
static int64_t build_of(struct store *s, const char *name, const char *sha256, const char *kernels)
{
    char path[512], code[1024];
    make_bundle(name, name);
    snprintf(path, sizeof path, "%s/v3/code.json", name);
    snprintf(code, sizeof code,
             "{\"schema\":\"kernsweep.code/1\",\"kind\":\"device\",\"sha256\":\"%s\",\"kernels\":[%s]}",
             sha256, kernels);
    put(path, code);
    write_manifest(name, name);
    return must_ingest(s, in_scratch(name), NULL);
}

/* Three commits, the second of which is the answer. */
static void make_answer(struct bisect_state *b, struct store *s)
{
    struct git_commits commits = {.items = calloc(3, sizeof *commits.items), .count = 3};
    struct delta slower = {.verdict = VERDICT_REGRESSED, .base.n = 6, .now.n = 6};
    struct err err = {0};
    for (size_t i = 0; i < 3; i++) {
        snprintf(commits.items[i].id, sizeof commits.items[i].id, "%040zu", i);
        snprintf(commits.items[i].subject, sizeof commits.items[i].subject, "a | \x60subject\x60 <b>");
    }
    *b = (struct bisect_state){.n_cells = 1};
    assert_int_equal(bisect_state_init(b, &commits, 1, &err), 0);
    b->cells[0] = (struct bisect_cell){
        .variant = "v3", .context = 64, .ratio = 1.08, .metric = "prefill_s", .unit = "s"};
    bisect_built(&b->search, 0, "a", NULL);
    bisect_built(&b->search, 2, "c", NULL);
    bisect_measured(&b->search, 2, &slower);
    bisect_built(&b->search, 1, "b", NULL);
    bisect_measured(&b->search, 1, &slower);
    b->entries[0].build =
        build_of(s, "before", HASH_A,
                 "{\"name\":\"k\",\"sha256\":\"" HASH_A "\",\"resources\":{\"vgprs\":64,\"lds_bytes\":1024}},"
                 "{\"name\":\"same\",\"sha256\":\"" HASH_A "\"}");
    b->entries[1].build = build_of(
        s, "after", HASH_B,
        "{\"name\":\"k\",\"sha256\":\"" HASH_B "\",\"resources\":{\"vgprs\":96,\"lds_bytes\":1024}},"
        "{\"name\":\"new\",\"sha256\":\"" HASH_B "\"},{\"name\":\"same\",\"sha256\":\"" HASH_A "\"}");
    b->step = bisect_next(&b->search);
    snprintf(b->ended_at, sizeof b->ended_at, "2026-02-14T04:15:09Z");
}

TEST(changed_kernels_are_listed)
{
    AUTO(store_close) struct store s = open_store("changed.db");
    AUTO(bisect_state_release) struct bisect_state b = {0};
    AUTO(bisect_code_release) struct bisect_code c = {0};
    make_answer(&b, &s);
    assert_int_equal(b.step.outcome, BISECT_FOUND);
    bisect_code_load(&b, &s, &c);
    assert_int_equal(c.count, 2);
    assert_string_equal(c.rows[0].kernel, "k");
    assert_string_equal(c.rows[0].what, "resources.vgprs");
    assert_int_equal(c.rows[0].before, 64);
    assert_int_equal(c.rows[0].after, 96);
    assert_string_equal(c.rows[1].kernel, "new");
    assert_string_equal(c.rows[1].what, "new");
}

static void assert_headline(const struct bisect_state *b, const char *expected)
{
    AUTO(buf_release) struct buf out = {.max = 512};
    bisect_write_headline(b, &out);
    assert_string_equal(buf_str(&out), expected);
}

/* Two commits made it slower, 4 % and 5 %: the answer is one of them, and not all of the change is its. */
TEST(a_commit_is_not_charged_with_the_change_of_others)
{
    AUTO(store_close) struct store s = open_store("others.db");
    AUTO(bisect_state_release) struct bisect_state b = {0};
    make_answer(&b, &s);
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +8.0 %");
    b.entries[1].ratio = 1.079;
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +8.0 %");
    b.entries[1].ratio = 1.05;
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +5.0 % there, +8.0 % between the ends");
    b.entries[1].ratio = 1.2;
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +20.0 % there, +8.0 % between the ends");
    b.step = (struct bisect_step){.task = BISECT_END, .outcome = BISECT_FOUND, .first = 2, .last = 2};
    b.commits[1].mark = BISECT_GOOD;
    b.entries[1].ratio = 1.035;
    b.entries[2].ratio = 1.08;
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +4.3 % there, +8.0 % between the ends");
    snprintf(b.commits[1].code, sizeof b.commits[1].code, "a");
    b.commits[1].basis = BISECT_BY_CODE;
    b.entries[1].ratio = NAN;
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +8.0 %");
}

/* 1 and 2 follow the good end, 3 and 4 are a branch from it, 5 merges the two. The answer is 3: the commit
 * before it in the list is on the other branch. */
TEST(a_change_is_that_to_the_commit_it_descends_from)
{
    static const size_t parents[][2] = {{0}, {0}, {1}, {0}, {3}, {2, 4}};
    static const double ratio[] = {NAN, NAN, 1.04, 1.07, NAN, 1.11};
    struct git_commits commits = {.items = calloc(6, sizeof *commits.items), .count = 6};
    AUTO(bisect_state_release) struct bisect_state b = {.n_cells = 0};
    struct err err = {0};
    for (size_t i = 0; i < 6; i++) {
        snprintf(commits.items[i].id, sizeof commits.items[i].id, "%040zu", i);
        for (size_t p = 0; i > 0 && p < 2 && (p == 0 || parents[i][p] > 0); p++)
            commits.items[i].parents[commits.items[i].n_parents++] = parents[i][p];
    }
    assert_ok(bisect_state_init(&b, &commits, 1, &err), &err);
    b.cells[b.n_cells++] = (struct bisect_cell){
        .variant = "v3", .context = 64, .ratio = 1.11, .metric = "prefill_s", .unit = "s"};
    for (size_t i = 0; i < 6; i++)
        b.entries[i].ratio = ratio[i];
    b.commits[2].mark = BISECT_GOOD;
    b.commits[3].mark = b.commits[5].mark = BISECT_BAD;
    b.step = bisect_next(&b.search);
    assert_int_equal(b.step.first, 3);
    snprintf(b.ended_at, sizeof b.ended_at, "2026-02-14T04:15:09Z");
    assert_headline(&b, "found 000000000000: v3 64: prefill_s +7.0 % there, +11.0 % between the ends");
}

TEST(undecided_ends_are_not_called_equal)
{
    struct delta open = {.verdict = VERDICT_NOISY, .base.n = 6, .now.n = 6};
    struct git_commits commits = {.items = calloc(2, sizeof *commits.items), .count = 2};
    AUTO(bisect_state_release) struct bisect_state b = {.n_cells = 0};
    AUTO(store_close) struct store s = open_store("undecided.db");
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    struct err err = {0};
    assert_ok(bisect_state_init(&b, &commits, 1, &err), &err);
    bisect_built(&b.search, 0, "a", NULL);
    bisect_built(&b.search, 1, "b", NULL);
    bisect_measured(&b.search, 1, &open);
    snprintf(b.commits[1].reason, sizeof b.commits[1].reason, "noise of 9 %% exceeds it");
    b.step = bisect_next(&b.search);
    snprintf(b.ended_at, sizeof b.ended_at, "2026-02-14T04:15:09Z");
    assert_headline(&b, "undecided: measuring alternately could not tell whether the ends differ: "
                        "noise of 9 % exceeds it");
    bisect_write_markdown(&b, &s, &text);
    assert_non_null(strstr(buf_str(&text), "could not tell whether the ends differ"));
    assert_null(strstr(buf_str(&text), "not reproducible"));
}

TEST(runs_that_are_gone_leave_it_out)
{
    AUTO(store_close) struct store s = open_store("gone.db");
    AUTO(bisect_state_release) struct bisect_state b = {0};
    AUTO(bisect_code_release) struct bisect_code c = {0};
    make_answer(&b, &s);
    b.entries[1].build = 4711;
    bisect_code_load(&b, &s, &c);
    assert_int_equal(c.count, 0);
}

TEST(a_report_escapes_subjects)
{
    AUTO(store_close) struct store s = open_store("report.db");
    AUTO(bisect_state_release) struct bisect_state b = {0};
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    make_answer(&b, &s);
    bisect_write_markdown(&b, &s, &text);
    assert_non_null(strstr(buf_str(&text), "found 000000000000: v3 64: "));
    assert_non_null(strstr(buf_str(&text), "## Changed machine code"));
    assert_non_null(strstr(buf_str(&text), "| `k`"));
    assert_null(strstr(buf_str(&text), "\n<b>"));
}

GROUP(scratch_make, scratch_remove);
