/* years: what commands read of a store does not grow with the nights that it holds. Counted in steps of
 * SQLite's virtual machine, which are the same on every machine, and the tables that a statement reads as a
 * whole.
 */
#include "tests/unit/results_support.h"

#include "results/query/against.h"
#include "results/query/export.h"
#include "results/query/history_load.h"
#include "results/query/report_queries.h"
#include "results/store/placing.h"
#include "results/store/runs.h"

enum { CONTEXTS = 10, REPETITIONS = 6, FEW = 620, MANY = 820, STEPS_PER_TEST = 4 };

/* What the statements of a store did since it was reset. */
struct work {
    int64_t steps;
};

static int add_work(unsigned kind, void *arg, void *stmt, void *ns)
{
    struct work *w = arg;
    (void)kind;
    (void)ns;
    w->steps += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

static void draft_metrics(struct run_test *t, int night)
{
    t->gpu = "0000:c1:00.0";
    t->value[METRIC_SCLK_MHZ] = 2100 - night % 5;
    snprintf(t->activity.window, sizeof t->activity.window, "timed");
}

/* `nights` nights of one plan. */
static struct store store_of(const char *name, int nights)
{
    struct store s = open_store(name);
    struct err err = {0};
    assert_ok(sql_exec(&s, "PRAGMA synchronous = OFF", &err), &err);
    for (int night = 0; night < nights; night++) {
        struct draft d;
        draft_night(&d, night);
        for (int c = 0; c < CONTEXTS; c++)
            for (int i = 1; i <= REPETITIONS; i++)
                draft_metrics(draft_shot(&d, "v3", 1024 * (c + 1), i, 1 + c + 0.001 * ((night + i) % 7)),
                              night);
        must_store(&s, &d);
    }
    return s;
}

static int64_t newest(struct store *s)
{
    return query_int(s, "SELECT max(id) FROM run");
}

typedef void work_fn(struct store *s);

static int64_t steps_of(struct store *s, work_fn *fn)
{
    struct work w = {0};
    sqlite3_trace_v2(s->db, SQLITE_TRACE_PROFILE, add_work, &w);
    fn(s);
    sqlite3_trace_v2(s->db, 0, NULL, NULL);
    assert_true(w.steps > 0);
    return w.steps;
}

/* What a night adds may be steps for the night, not for each of its tests. */
static void must_not_grow(struct store *few, struct store *many, const char *what, work_fn *fn)
{
    int64_t before = steps_of(few, fn), after = steps_of(many, fn);
    int64_t more = (int64_t)(MANY - FEW) * CONTEXTS * REPETITIONS * STEPS_PER_TEST;
    if (after - before > more)
        fail_msg("%s: %lld steps with %d nights, %lld with %d", what, (long long)before, FEW,
                 (long long)after, MANY);
}

static void list_twenty(struct store *s)
{
    const struct run_filter filter = {.limit = 20};
    struct err err = {0};
    AUTO(run_list_release) struct run_list l = {0};
    assert_ok(runs_list(s, &filter, &l, &err), &err);
    assert_int_equal(l.count, 20);
}

static void compare_newest(struct store *s)
{
    struct err err = {0};
    const struct compare_options options = compare_defaults();
    AUTO(run_data_release) struct run_data now = must_load(s, newest(s));
    AUTO(against_release) struct against a = {0};
    AUTO(comparison_release) struct comparison c = {0};
    assert_ok(against_run(s, &now, newest(s) - 1, &options, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_true(c.count >= CONTEXTS);
}

/* The nights around an old base are judged too, those between are not. */
static void compare_with_oldest(struct store *s)
{
    struct err err = {0};
    const struct compare_options options = compare_defaults();
    AUTO(run_data_release) struct run_data now = must_load(s, newest(s));
    AUTO(against_release) struct against a = {0};
    assert_ok(against_run(s, &now, 1, &options, &a, &err), &err);
    assert_true(a.nights.nights > HISTORY_NIGHTS_MAX);
}

static void count_costs(struct store *s)
{
    struct err err = {0};
    AUTO(run_data_release) struct run_data now = must_load(s, newest(s));
    AUTO(report_costs_release) struct cost_list l = {0};
    assert_ok(report_costs_load(s, &now.info, 10, &l, &err), &err);
    assert_int_equal(l.count, 10);
    assert_true(l.runs >= FEW);
}

static int swallow(void *arg, const char *data, size_t len, struct err *err)
{
    (void)data;
    (void)err;
    *(size_t *)arg += len;
    return 0;
}

static void export_newest(struct store *s)
{
    struct err err = {0};
    size_t bytes = 0;
    assert_ok(export_tests(s, newest(s), EXPORT_CSV, swallow, &bytes, &err), &err);
    assert_true(bytes > 0);
}

static void count_place(void *arg, const struct last_place *p)
{
    assert_string_equal(p->gpu, "0000:c1:00.0");
    *(int *)arg += 1;
}

static void place_tests(struct store *s)
{
    struct err err = {0};
    int places = 0;
    assert_ok(last_places(s, NODE, "demo", "perf", count_place, &places, &err), &err);
    assert_int_equal(places, CONTEXTS);
}

TEST(work_does_not_grow_with_the_nights)
{
    struct store few = store_of("few.db", FEW), many = store_of("many.db", MANY);
    must_not_grow(&few, &many, "runs", list_twenty);
    must_not_grow(&few, &many, "compare", compare_newest);
    must_not_grow(&few, &many, "compare with an old base", compare_with_oldest);
    must_not_grow(&few, &many, "costs", count_costs);
    must_not_grow(&few, &many, "export", export_newest);
    must_not_grow(&few, &many, "places", place_tests);
    store_close(&few);
    store_close(&many);
}

GROUP(scratch_make, scratch_remove);
