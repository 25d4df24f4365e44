/* cells: rounds go on as long as something is open, and not beyond their number. */
#include "harness/session/cells.h"
#include "tests/unit/support.h"

/* So many cells are open before each round; a round that fails says so. */
struct script {
    size_t open[4], judged, measured, fails_at;
};

static int list_open(void *of, struct suspect_list *out, struct err *err)
{
    const struct script *s = of;
    (void)err;
    for (size_t i = 0; i < s->open[s->judged]; i++)
        cells_add(out, "a", 64 << i);
    return 0;
}

static int measure(void *of, const struct suspect_list *cells, size_t round, struct err *err)
{
    struct script *s = of;
    assert_int_equal(cells->count, s->open[s->judged]);
    assert_int_equal(round, s->judged + 1);
    if (round == s->fails_at)
        return err_set(err, ERR_NODE, "round %zu", round);
    s->measured += cells->count;
    return 0;
}

static int judge(void *of, struct err *err)
{
    (void)err;
    ((struct script *)of)->judged++;
    return 0;
}

static int settle(struct script *s, size_t rounds_max, struct err *err)
{
    const struct settling settling = {
        .of = s, .rounds_max = rounds_max, .open = list_open, .measure = measure, .judge = judge};
    return cells_settle(&settling, err);
}

TEST(rounds_end_when_nothing_is_open)
{
    struct script s = {.open = {3, 1, 0, 2}}, none = {.open = {0}};
    struct err err = {0};
    assert_ok(settle(&s, 4, &err), &err);
    assert_int_equal(s.judged, 2);
    assert_int_equal(s.measured, 4);
    assert_ok(settle(&none, 4, &err), &err);
    assert_int_equal(none.judged, 0);
}

TEST(rounds_are_used_up)
{
    struct script s = {.open = {2, 2, 2, 2}};
    struct err err = {0};
    assert_ok(settle(&s, 2, &err), &err);
    assert_int_equal(s.judged, 2);
}

TEST(a_round_that_fails_ends_them)
{
    struct script s = {.open = {2, 2, 2, 2}, .fails_at = 2};
    struct err err = {0};
    assert_err(settle(&s, 4, &err), &err, ERR_NODE, "round 2");
    assert_int_equal(s.judged, 1);
}
