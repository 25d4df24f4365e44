/* open_cells: a finding stays open until a verdict clears it; an inconclusive one does not. */
#include "harness/nightly/open_cells.h"
#include "tests/unit/support.h"

/* A comparison of the variants a, b, c ... at context 64, with these verdicts. */
struct nights {
    struct delta deltas[4];
    struct comparison c;
};

static struct comparison *night(struct nights *n, const enum verdict *v, size_t count)
{
    *n = (struct nights){.c = {.deltas = n->deltas, .count = count, .primary = METRIC_PREFILL_S}};
    for (size_t i = 0; i < count; i++) {
        n->deltas[i] = (struct delta){
            .variant = {(char)('a' + i)}, .context = 64, .metric = METRIC_PREFILL_S, .verdict = v[i]};
        n->c.verdicts[v[i]]++;
    }
    return &n->c;
}

TEST(a_finding_is_open_until_it_is_cleared)
{
    struct nights n;
    json_t *lines = json_array();
    const enum verdict slow[] = {VERDICT_REGRESSED, VERDICT_UNCHANGED},
                       loaded[] = {VERDICT_NOISY, VERDICT_NOISY};
    const enum verdict good[] = {VERDICT_UNCHANGED, VERDICT_NOISY};
    json_t *first = open_cells_after(NULL, night(&n, slow, 2), "2026-02-14");
    assert_int_equal(json_array_size(first), 1);
    assert_int_equal(open_cells_undecided(first, &n.c, lines), 0);
    assert_false(open_cells_mostly_noisy(&n.c));
    json_t *second = open_cells_after(first, night(&n, loaded, 2), "2026-02-15");
    assert_int_equal(json_array_size(second), 1);
    assert_int_equal(open_cells_undecided(second, &n.c, lines), 1);
    assert_string_equal(json_string_value(json_array_get(lines, 0)),
                        "a 64: inconclusive, open since 2026-02-14");
    assert_true(open_cells_mostly_noisy(&n.c));
    json_t *third = open_cells_after(second, night(&n, good, 2), "2026-02-16");
    assert_int_equal(json_array_size(third), 0);
    assert_false(open_cells_mostly_noisy(&n.c));
    json_decref(first);
    json_decref(second);
    json_decref(third);
    json_decref(lines);
}

TEST(a_cell_is_open_since_the_night_on_which_it_began)
{
    struct nights n;
    const enum verdict bad[] = {VERDICT_REGRESSED, VERDICT_FAILING, VERDICT_SUSPECTED};
    night(&n, bad, 3);
    n.deltas[0].stand = (struct stand){.stands = true, .since = 1761696000000};
    n.deltas[1].stand.since = 1761696000000;
    json_t *open = open_cells_after(NULL, &n.c, "2025-11-01");
    assert_int_equal(json_array_size(open), 2); /* a suspect is no finding */
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(open, i), "since")),
                            "2025-10-29");
    json_decref(open);
}

TEST(a_refuted_suspect_is_cleared)
{
    struct nights n;
    const enum verdict slow[] = {VERDICT_BROKEN, VERDICT_MISSING}, refuted[] = {VERDICT_NOISY, VERDICT_NOISY};
    json_t *before = open_cells_after(NULL, night(&n, slow, 2), "2026-02-14");
    assert_int_equal(json_array_size(before), 2);
    night(&n, refuted, 2);
    n.deltas[0].confirmation = CONFIRM_REFUTED;
    json_t *after = open_cells_after(before, &n.c, "2026-02-15");
    assert_int_equal(json_array_size(after), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(after, 0), "variant")), "b");
    json_decref(before);
    json_decref(after);
}

/* A night of a alone, after one in which a and b regressed. */
TEST(a_cell_that_was_not_measured_stays_open)
{
    struct nights n;
    const enum verdict slow[] = {VERDICT_REGRESSED, VERDICT_REGRESSED}, good[] = {VERDICT_UNCHANGED};
    json_t *lines = json_array(), *before = open_cells_after(NULL, night(&n, slow, 2), "2026-02-14");
    assert_int_equal(open_cells_unmeasured(before, &n.c), 0);
    json_t *after = open_cells_after(before, night(&n, good, 1), "2026-02-15");
    assert_int_equal(json_array_size(after), 1);
    const json_t *cell = json_array_get(after, 0);
    assert_string_equal(json_string_value(json_object_get(cell, "variant")), "b");
    assert_string_equal(json_string_value(json_object_get(cell, "since")), "2026-02-14");
    assert_int_equal(open_cells_unmeasured(after, &n.c), 1);
    assert_int_equal(open_cells_undecided(after, &n.c, lines), 0);
    json_decref(lines);
    json_decref(before);
    json_decref(after);
}

/* Another metric of a cell says nothing about the one that decides. */
TEST(another_metric_measures_no_cell)
{
    struct nights n;
    const enum verdict slow[] = {VERDICT_REGRESSED}, good[] = {VERDICT_UNCHANGED};
    json_t *before = open_cells_after(NULL, night(&n, slow, 1), "2026-02-14");
    night(&n, good, 1);
    n.deltas[0].metric = METRIC_DECODE_S;
    json_t *after = open_cells_after(before, &n.c, "2026-02-15");
    assert_int_equal(json_array_size(after), 1);
    open_cells_drop_unmeasured(after, &n.c);
    assert_int_equal(json_array_size(after), 0);
    json_decref(before);
    json_decref(after);
}
