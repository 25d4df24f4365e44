/* retention: samples of older runs leave the store some runs at a time; an interruption keeps what was
 * removed, and the next call goes on. */
#include "tests/unit/results_support.h"

#include "harness/nightly/retention.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

enum { RUNS = 60, KEPT = 10, AT_ONCE = 16 };

static volatile sig_atomic_t stop;
static char db[FS_PATH_MAX];

struct seen {
    size_t calls, total, stop_at;
};

static void watch_runs(void *arg, size_t done, size_t total)
{
    struct seen *seen = arg;
    assert_true(done == seen->calls + 1 && done <= total);
    seen->calls = done;
    seen->total = total;
    if (done == seen->stop_at)
        stop = 1;
}

static void record_run(int night)
{
    struct err err = {0};
    struct runrec r = {.state = RUNREC_INGESTED};
    snprintf(r.run_id, sizeof r.run_id, "night-%04d", night);
    snprintf(r.node, sizeof r.node, NODE);
    snprintf(r.workdir, sizeof r.workdir, "w");
    snprintf(r.bundle, sizeof r.bundle, "%s/bundle-%d", scratch, night);
    snprintf(r.plan, sizeof r.plan, "plan.json");
    snprintf(r.ticket, sizeof r.ticket, "demo");
    assert_ok(runrec_save(&r, db, &err), &err);
}

/* Nights with two tests each, of which every one has samples; the third night is a baseline. */
static int set_up(void **state)
{
    struct err err = {0};
    if (scratch_make(state) != 0)
        return -1;
    struct store s = open_store("store/results.db");
    memcpy(db, s.path, sizeof db);
    assert_ok(sql_exec(&s, "PRAGMA synchronous = OFF", &err), &err);
    for (int night = 0; night < RUNS; night++) {
        struct draft d;
        draft_night(&d, night);
        draft_shot(&d, "v", 4096, 1, 1.0);
        draft_shot(&d, "v", 4096, 2, 1.0);
        int64_t key = must_store(&s, &d);
        if (night == 2)
            assert_ok(baseline_set(&s, "good", key, false, &err), &err);
        record_run(night);
    }
    assert_ok(sql_exec(&s, "INSERT INTO telemetry SELECT id, 1, x'00' FROM test", &err), &err);
    store_close(&s);
    return 0;
}

static int64_t tests_with_samples(void)
{
    struct store s;
    struct err err = {0};
    assert_ok(store_open(&s, db, STORE_READ, &err), &err);
    int64_t n = query_int(&s, "SELECT count(*) FROM telemetry");
    store_close(&s);
    return n;
}

static void samples_of_older_runs_are_removed(void **state)
{
    (void)state;
    struct err err = {0};
    struct seen seen = {.stop_at = 30};
    const struct retention_watch watch = {&stop, watch_runs, &seen};
    assert_err(retention_prune_samples(db, "plan.json", NULL, KEPT, &watch, &err), &err, ERR_INTERRUPTED,
               "the next night removes the rest");
    assert_int_equal(seen.total, RUNS - KEPT);
    assert_int_equal(tests_with_samples(), 2 * (RUNS - AT_ONCE));
    stop = 0;
    seen = (struct seen){0};
    err = (struct err){0};
    assert_ok(retention_prune_samples(db, "plan.json", NULL, KEPT, &watch, &err), &err);
    assert_int_equal(seen.calls, RUNS - KEPT);
    assert_int_equal(tests_with_samples(), 2 * (KEPT + 1));
    assert_ok(retention_prune_samples(db, "plan.json", NULL, KEPT, NULL, &err), &err);
    assert_int_equal(tests_with_samples(), 2 * (KEPT + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_older_runs_are_removed),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
