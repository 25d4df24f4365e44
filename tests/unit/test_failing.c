/* failing: by nights alone, a cell is broken on its first bad night and still failing from then on. */
#include "tests/unit/results_support.h"

#include "results/query/against.h"
#include "results/store/baseline.h"

enum { FIRST_BAD = 10 };

/* A night of a cell that always works, one that fails from the tenth on, and one that always fails. */
static int64_t store_night(struct store *s, int night, enum status bad)
{
    struct draft d;
    draft_night(&d, night);
    draft_shot(&d, "good", 64, 1, 1.0);
    draft_shot(&d, "later", 64, 1, 1.0)->status = night < FIRST_BAD ? STATUS_OK : bad;
    draft_shot(&d, "never", 64, 1, 1.0)->status = STATUS_CRASH;
    return must_store(s, &d);
}

/* By the nights before it alone, or against a baseline. */
static struct delta verdict_by(struct store *s, int64_t key, const char *variant, const char *baseline)
{
    struct err err = {0};
    const struct compare_options o = compare_defaults();
    struct comparison c;
    struct against a;
    struct delta found = {0};
    AUTO(run_data_release) struct run_data now = must_load(s, key);
    assert_ok(baseline ? against_baseline(s, &now, baseline, &o, &a, &err)
                       : against_nights(s, &now, &o, &a, &err),
              &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    for (size_t i = 0; i < c.count; i++)
        if (strcmp(c.deltas[i].variant, variant) == 0)
            found = c.deltas[i];
    comparison_release(&c);
    against_release(&a);
    return found;
}

static struct delta verdict_of(struct store *s, int64_t key, const char *variant)
{
    return verdict_by(s, key, variant, NULL);
}

TEST(what_failed_on_its_last_nights_still_fails)
{
    AUTO(store_close) struct store s = open_store("failing.db");
    int64_t night[FIRST_BAD + 5];
    for (int i = 0; i < FIRST_BAD + 5; i++) /* one of them was interrupted, which is no end of it */
        night[i] = store_night(&s, i, i == FIRST_BAD + 2 ? STATUS_INTERRUPTED : STATUS_TIMEOUT);
    assert_int_equal(verdict_of(&s, night[FIRST_BAD], "later").verdict, VERDICT_BROKEN);
    assert_int_equal(verdict_of(&s, night[FIRST_BAD + 2], "later").verdict, VERDICT_MISSING);
    struct delta d = verdict_of(&s, night[FIRST_BAD + 4], "later");
    assert_int_equal(d.verdict, VERDICT_FAILING);
    assert_int_equal(d.base.status, STATUS_TIMEOUT);
    assert_true(d.stand.since == when_midnight("2025-01-11"));
    d = verdict_of(&s, night[FIRST_BAD + 4], "never");
    assert_int_equal(d.verdict, VERDICT_FAILING);
    assert_true(d.stand.since == when_midnight("2025-01-01"));
    assert_int_equal(verdict_of(&s, night[FIRST_BAD + 4], "good").verdict, VERDICT_UNCHANGED);
}

/* A night on which it worked begins it anew. */
TEST(a_cell_that_worked_on_the_last_night_is_broken)
{
    AUTO(store_close) struct store s = open_store("broken.db");
    int64_t last = 0;
    for (int i = 0; i < FIRST_BAD + 5; i++)
        last = store_night(&s, i, i == FIRST_BAD + 3 ? STATUS_OK : STATUS_TIMEOUT);
    assert_int_equal(verdict_of(&s, last, "later").verdict, VERDICT_BROKEN);
}

TEST(what_worked_in_the_baseline_still_fails_from_its_second_night_on)
{
    AUTO(store_close) struct store s = open_store("baseline.db");
    struct err err = {0};
    int64_t night[FIRST_BAD + 2];
    for (int i = 0; i < FIRST_BAD + 2; i++)
        night[i] = store_night(&s, i, STATUS_TIMEOUT);
    assert_ok(baseline_set(&s, "gold", night[0], false, &err), &err);
    assert_int_equal(verdict_by(&s, night[FIRST_BAD], "later", "gold").verdict, VERDICT_BROKEN);
    struct delta d = verdict_by(&s, night[FIRST_BAD + 1], "later", "gold");
    assert_int_equal(d.verdict, VERDICT_FAILING);
    assert_int_equal(d.base.status, STATUS_OK);
    assert_true(d.stand.since == when_midnight("2025-01-11"));
}

GROUP(scratch_make, scratch_remove);
