/* sweep: the record of what one command started on several nodes, and the order of exit codes. */
#include "tests/unit/support.h"

#include "harness/session/several.h"
#include "harness/session/sweep.h"

static void make(struct sweep_record *w, const char *id)
{
    *w = (struct sweep_record){.count = 2, .plan = "/p/plan.json", .ticket = "t"};
    snprintf(w->id, sizeof w->id, "%s", id);
    snprintf(w->member[0].node, sizeof w->member[0].node, "a");
    w->member[1] =
        (struct sweep_member){.node = "b", .ended = true, .code = 3, .failure = "no route \"to\" it"};
}

static void record_comes_back(void **state)
{
    (void)state;
    char db[FS_PATH_MAX];
    struct sweep_record w, got;
    struct err err = {0};
    bool found;
    snprintf(db, sizeof db, "%s/sweep-back.db", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_ok(sweep_find(&got, db, "sweep-nothing", &found, &err), &err);
    assert_false(found);
    make(&w, "sweep-20260101T000000Z-t-aaaaaa");
    assert_ok(sweep_save(&w, db, &err), &err);
    make(&w, "sweep-20260102T000000Z-t-bbbbbb");
    assert_ok(sweep_save(&w, db, &err), &err);
    assert_ok(sweep_find(&got, db, "sweep-20260102", &found, &err), &err);
    assert_true(found);
    assert_string_equal(got.id, w.id);
    assert_int_equal(got.count, 2);
    assert_string_equal(got.member[0].node, "a");
    assert_false(got.member[0].ended);
    assert_int_equal(got.member[1].code, 3);
    assert_string_equal(got.member[1].failure, "no route \"to\" it");
    assert_int_equal(sweep_find(&got, db, "sweep-2026", &found, &err), -1);
    assert_non_null(strstr(err.msg, "means 2 sweeps"));
    assert_ok(sweep_find(&got, db, "20260101", &found, &err), &err); /* might be a run's */
    assert_false(found);
}

static void exit_codes_have_an_order(void **state)
{
    (void)state;
    static const int order[] = {0, 1, 3, 4, 2, 5, 130};
    for (size_t i = 0; i < COUNT(order); i++)
        for (size_t k = 0; k <= i; k++) {
            assert_int_equal(several_worst(order[i], order[k]), order[i]);
            assert_int_equal(several_worst(order[k], order[i]), order[i]);
        }
    assert_int_equal(several_worst(77, 78), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_comes_back),
        cmocka_unit_test(exit_codes_have_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
