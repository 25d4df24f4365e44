/* digest: the order of its lines, and their limit.
 */
#include "tests/unit/support.h"

#include "harness/nightly/digest.h"

#include <math.h>
#include <stdio.h>

static struct delta cell(const char *variant, int context, enum verdict verdict, double ratio)
{
    struct delta d = {
        .context = context, .metric = METRIC_PREFILL_S, .verdict = verdict, .estimate.ratio = ratio};
    snprintf(d.variant, sizeof d.variant, "%s", variant);
    return d;
}

static void assert_line(const json_t *lines, size_t i, const char *want)
{
    assert_string_equal(json_string_value(json_array_get(lines, i)), want);
}

TEST(lines_are_ordered_from_worst_to_best)
{
    struct run_variant variants[] = {{.name = "v4", .status = STATUS_GATE_FAILED, .reason = "\033[2J"}};
    const struct run_data run = {.variants = variants, .n_variants = 1};
    struct delta deltas[] = {cell("a", 1, VERDICT_IMPROVED, 0.5), cell("a", 2, VERDICT_UNCHANGED, 1),
                             cell("b", 1, VERDICT_BROKEN, NAN), cell("b", 2, VERDICT_REGRESSED, 1.123)};
    deltas[1].metric = METRIC_PREFILL_S;
    deltas[2].now.status = STATUS_OOM;
    deltas[3].confirmation = CONFIRM_STANDS;
    const struct comparison c = {.deltas = deltas, .count = 4, .primary = METRIC_PREFILL_S};
    json_t *lines = digest_lines(&run, &c, "");
    assert_int_equal(json_array_size(lines), 4);
    assert_line(lines, 0, "v4: GATE_FAILED: \\x1b[2J");
    assert_line(lines, 1, "b 2: regressed +12.3 %, confirmed");
    assert_line(lines, 2, "b 1: broken (OOM)");
    assert_line(lines, 3, "a 1: improved -50.0 %");
    json_decref(lines);
}

/* It was measured again only to tell whose the factor is that all cells share. */
TEST(what_confirming_said_of_all_cells_is_not_said_of_one)
{
    const struct run_data run = {0};
    struct delta deltas[] = {cell("a", 1, VERDICT_IMPROVED, 0.9)};
    deltas[0].confirmation = CONFIRM_STANDS;
    const struct comparison c = {.deltas = deltas, .count = 1, .primary = METRIC_PREFILL_S};
    json_t *lines = digest_lines(&run, &c, "");
    assert_line(lines, 0, "a 1: improved -10.0 %");
    json_decref(lines);
}

TEST(suspects_and_what_still_fails_have_lines_of_their_own)
{
    const int64_t night = 1761696000000; /* 2025-10-29 */
    const struct run_data run = {0};
    struct delta deltas[] = {cell("a", 1, VERDICT_SUSPECTED, 1.08), cell("b", 1, VERDICT_FAILING, NAN),
                             cell("c", 1, VERDICT_REGRESSED, 1.156), cell("d", 1, VERDICT_UNCHANGED, 1)};
    deltas[1].now.status = STATUS_TIMEOUT;
    deltas[2].confirmation = CONFIRM_STANDS;
    deltas[2].again = 1.083;
    deltas[2].stand = (struct stand){.stands = true, .since = night};
    deltas[3].stand.gone = night;
    const struct comparison c = {.deltas = deltas, .count = 4, .primary = METRIC_PREFILL_S};
    json_t *lines = digest_lines(&run, &c, "");
    assert_line(lines, 0, "c 1: regressed +8.3 %, confirmed (tonight +15.6 %), since 2025-10-29");
    assert_line(lines, 1, "b 1: still TIMEOUT");
    assert_line(lines, 2,
                "a 1: suspected +8.0 %; more nights like it would have to follow, or measuring both builds "
                "alternately "
                "(--confirm) settles it");
    assert_line(lines, 3, "d 1: gone, suspected on 2025-10-29");
    assert_int_equal(json_array_size(lines), 4);
    json_decref(lines);
}

/* Not what was committed tonight. */
TEST(a_finding_has_the_commits_with_which_it_began)
{
    const int64_t night = 1761696000000; /* 2025-10-29 */
    const struct run_data run = {0};
    struct delta deltas[] = {cell("a", 1, VERDICT_REGRESSED, 1.08), cell("b", 1, VERDICT_REGRESSED, 1.08),
                             cell("c", 1, VERDICT_REGRESSED, 1.08), cell("d", 1, VERDICT_REGRESSED, 1.08)};
    struct opening openings[] = {
        {.variant = "a", .context = 1, .since = night, .subject = "unroll"},
        {.variant = "b", .context = 1, .since = night},
        {.variant = "c", .context = 1, .since = night, .found = "9abcdef0", .found_last = "9abcdef0"},
        {.variant = "d", .context = 1, .since = night, .found = "9abcdef0", .found_last = "8abcdef0"}};
    openings[0].commits = (struct commit_range){
        .kind = RANGE_ON, .count = 1, .exact = true, .from.commit = "1234567890", .to.commit = "abcdef0123"};
    openings[1].commits = openings[0].commits;
    openings[1].commits.count = 3;
    const struct comparison c = {.deltas = deltas,
                                 .count = 4,
                                 .primary = METRIC_PREFILL_S,
                                 .openings = {.items = openings, .count = 4}};
    json_t *lines = digest_lines(&run, &c, "1..2, 1 commit");
    assert_line(lines, 0, "a 1: regressed +8.0 %, since 2025-10-29, with abcdef0 (unroll)");
    assert_line(lines, 1, "b 1: regressed +8.0 %, since 2025-10-29 (1234567..abcdef0, 3 commits)");
    assert_line(lines, 2, "c 1: regressed +8.0 %, since 2025-10-29, because of 9abcdef, found by bisecting");
    assert_line(
        lines, 3,
        "d 1: regressed +8.0 %, since 2025-10-29, because of one of 9abcdef..8abcdef, found by bisecting");
    assert_int_equal(json_array_size(lines), 4);
    json_decref(lines);
}

TEST(what_all_cells_lost_has_the_size_that_was_confirmed)
{
    const struct run_data run = {0};
    const struct comparison c = {
        .shift = {.found = true, .ratio = 1.156, .again = 1.083, .confirmed = SHIFT_CODE}};
    char text[DIGEST_VERDICTS_MAX];
    json_t *lines = digest_lines(&run, &c, "");
    assert_line(lines, 0, "all cells: +8.3 % together (tonight +15.6 %), confirmed");
    digest_verdicts(&c, text);
    assert_true(strncmp(text, "all cells: +8.3 % together; ", 28) == 0);
    json_decref(lines);
}

TEST(the_verdicts_in_a_line_have_what_cells_share_and_all_cells)
{
    char text[DIGEST_VERDICTS_MAX];
    struct comparison c = {.primary = METRIC_PREFILL_S};
    c.verdicts[VERDICT_REGRESSED] = 1;
    c.verdicts[VERDICT_UNCHANGED] = 8;
    digest_verdicts(&c, text);
    assert_string_equal(text, "1 regressed, 0 broken, 0 missing, 0 improved, 8 unchanged, 0 inconclusive");
    c.shift = (struct common_shift){.found = true, .worse = true, .ratio = 1.08};
    c.cards.count = 1;
    c.cards.items[0].worse = true;
    c.node_cells = 2;
    c.verdicts[VERDICT_FIXED] = 3;
    c.verdicts[VERDICT_NEW] = 4;
    c.verdicts[VERDICT_FAILING] = 5;
    c.verdicts[VERDICT_SUSPECTED] = 6;
    digest_verdicts(&c, text);
    assert_string_equal(text, "all cells: +8.0 % together; 1 GPU by itself; 2 slow because of the node; "
                              "1 regressed, 0 broken, 0 missing, 0 improved, 5 still failing, 6 suspected, "
                              "3 fixed, 4 new, 8 unchanged, "
                              "0 inconclusive");
    c.shift.from_controls = true;
    c.cards.count = 2;
    digest_verdicts(&c, text);
    assert_true(strncmp(text, "the node: +8.0 % together; 2 GPUs by themselves; ", 49) == 0);
    c.shift.device_changed = true;
    digest_verdicts(&c, text);
    assert_true(strncmp(text, "another GPU: +8.0 % together; ", 30) == 0);
}

TEST(lines_beyond_the_maximum_are_counted)
{
    struct run_variant variant = {.name = "v", .status = STATUS_OK};
    struct run_test tests[30] = {0};
    for (int i = 0; i < 30; i++) {
        tests[i].context = i;
        tests[i].status = i % 2 ? STATUS_OK : STATUS_TIMEOUT;
        tests[i].reason = "overran";
    }
    const struct run_data run = {.variants = &variant, .n_variants = 1, .tests = tests, .n_tests = 30};
    json_t *lines = digest_lines(&run, NULL, "a..b, 2 commits");
    assert_int_equal(json_array_size(lines), DIGEST_LINES_MAX);
    assert_line(lines, 0, "v 0: TIMEOUT: overran");
    assert_line(lines, 9, "and 6 more");
    json_decref(lines);
}

/* A cell has its own. */
TEST(commits_of_the_night_stand_below_what_all_cells_have_in_common)
{
    const struct run_data run = {0};
    struct delta deltas[] = {cell("b", 2, VERDICT_REGRESSED, 1.5)};
    struct comparison c = {.deltas = deltas, .count = 1, .primary = METRIC_PREFILL_S};
    json_t *lines = digest_lines(&run, &c, "a1b2c3d..e4f5a6b, 3 commits");
    assert_line(lines, 0, "b 2: regressed +50.0 %");
    json_decref(lines);
    c.shift = (struct common_shift){.found = true, .worse = true, .ratio = 1.08};
    lines = digest_lines(&run, &c, "a1b2c3d..e4f5a6b, 3 commits");
    assert_line(lines, 0, "all cells: +8.0 % together, one finding");
    assert_line(lines, 1, "commits: a1b2c3d..e4f5a6b, 3 commits");
    json_decref(lines);
}
