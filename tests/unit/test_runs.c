/* runs: what "latest" means, and what rejecting or removing a run does to comparisons and baselines. */
#include "tests/unit/results_support.h"

#include "results/query/against.h"
#include "results/query/find_run.h"
#include "results/query/history_load.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

static int64_t store_run(struct store *s, int night, enum run_purpose purpose)
{
    struct draft d;
    draft_night(&d, night);
    d.info.purpose = purpose;
    draft_shot(&d, "v", 4096, 1, 10.0);
    return must_store(s, &d);
}

static int64_t must_find(struct store *s, const char *word)
{
    struct err err = {0};
    int64_t key = 0;
    assert_ok(store_find_run(s, word, &key, &err), &err);
    return key;
}

TEST(latest_is_the_newest_sweep_that_counts)
{
    AUTO(store_close) struct store s = open_store("latest.db");
    struct err err = {0};
    int64_t key;
    int64_t confirm = store_run(&s, 3, PURPOSE_CONFIRM);
    assert_err(store_find_run(&s, "latest", &key, &err), &err, ERR_INPUT, "not made as a sweep");
    int64_t first = store_run(&s, 0, PURPOSE_SWEEP), second = store_run(&s, 1, PURPOSE_SWEEP);
    store_run(&s, 4, PURPOSE_NOISE);
    store_run(&s, 5, PURPOSE_BISECT);
    assert_int_equal(must_find(&s, "latest"), second);
    assert_int_equal(must_find(&s, "night-0003"), confirm);
    assert_ok(runs_reject(&s, second, "the node was in use", &err), &err);
    assert_int_equal(must_find(&s, "latest"), first);
    assert_int_equal(must_find(&s, "night-0001"), second);
    assert_ok(runs_unreject(&s, second, &err), &err);
    assert_int_equal(must_find(&s, "latest"), second);
    assert_err(runs_unreject(&s, second, &err), &err, ERR_INPUT, "not rejected");
}

TEST(runs_are_listed_by_purpose)
{
    AUTO(store_close) struct store s = open_store("purposes.db");
    struct err err = {0};
    AUTO(run_list_release) struct run_list list = {0};
    const struct run_filter noise = {.purpose = "noise"};
    store_run(&s, 0, PURPOSE_SWEEP);
    int64_t key = store_run(&s, 1, PURPOSE_NOISE);
    assert_ok(runs_list(&s, &noise, &list, &err), &err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.runs[0].key, key);
}

TEST(a_rejected_run_is_kept_and_never_compared)
{
    AUTO(store_close) struct store s = open_store("rejected.db");
    struct err err = {0};
    AUTO(against_release) struct against a = {0};
    const struct compare_options o = compare_defaults();
    int64_t base = store_run(&s, 0, PURPOSE_SWEEP), bad = store_run(&s, 1, PURPOSE_SWEEP);
    int64_t last = store_run(&s, 2, PURPOSE_SWEEP);
    assert_err(runs_reject(&s, bad, "  ", &err), &err, ERR_INPUT, "--why");
    assert_ok(runs_reject(&s, bad, "a fan\033[2J failed", &err), &err);
    struct run_data now = must_load(&s, bad), next = must_load(&s, last);
    assert_string_equal(now.info.rejected, "a fan\\x1b[2J failed");
    assert_err(against_run(&s, &now, base, &o, &a, &err), &err, ERR_INPUT, "night-0001 is rejected (a fan",
               "kernsweep runs unreject night-0001");
    assert_err(against_run(&s, &next, bad, &o, &a, &err), &err, ERR_INPUT, "unreject night-0001");
    assert_err(baseline_set(&s, "gold", bad, false, &err), &err, ERR_INPUT, "unreject night-0001");
    assert_ok(against_nights(&s, &next, &o, &a, &err), &err);
    assert_int_equal(a.history.nights, 1);
    run_data_release(&now);
    run_data_release(&next);
}

TEST(a_baseline_keeps_a_run_to_compare_with)
{
    AUTO(store_close) struct store s = open_store("held.db");
    struct err err = {0};
    struct baseline b;
    int64_t first = store_run(&s, 0, PURPOSE_SWEEP), second = store_run(&s, 1, PURPOSE_SWEEP);
    AUTO(run_data_release) struct run_data now = must_load(&s, store_run(&s, 2, PURPOSE_SWEEP));
    assert_ok(baseline_set(&s, "gold", first, false, &err), &err);
    assert_err(runs_reject(&s, first, "bad", &err), &err, ERR_INPUT, "\"gold\" would have no run left",
               "baseline set gold RUN");
    assert_err(runs_remove(&s, &first, 1, &err), &err, ERR_INPUT, "\"gold\"", "baseline remove gold");
    assert_ok(baseline_set(&s, "gold", second, true, &err), &err);
    assert_ok(runs_reject(&s, second, "bad", &err), &err);
    assert_ok(baseline_resolve(&s, "gold", &now.info, &b, &err), &err);
    assert_int_equal(b.key, first);
    assert_int_equal(b.runs, 1);
    assert_err(runs_reject(&s, first, "bad", &err), &err, ERR_INPUT, "no run left");
    assert_ok(runs_unreject(&s, second, &err), &err);
    assert_ok(baseline_resolve(&s, "gold", &now.info, &b, &err), &err);
    assert_int_equal(b.key, second);
    assert_int_equal(b.runs, 2);
}

/* A partial run that continued is stored again under the same key. */
TEST(a_rejection_survives_the_rest_of_the_run)
{
    AUTO(store_close) struct store s = open_store("continued.db");
    struct err err = {0};
    make_bundle("rest_part", "run-rest");
    unlink(in_scratch("rest_part/manifest.json"));
    unlink(in_scratch("rest_part/v3/ctx_512_run2/perf.json"));
    struct ingest_result result = ingested(&s, in_scratch("rest_part"), NULL);
    assert_ok(runs_reject(&s, result.key, "bad", &err), &err);
    result = ingested(&s, make_bundle("rest_full", "run-rest"), NULL);
    assert_int_equal(result.effect, INGEST_REPLACED);
    AUTO(run_data_release) struct run_data run = must_load(&s, result.key);
    assert_string_equal(run.info.rejected, "bad");
}

static const char *with_job_key(const char *name, const char *key, const char *value)
{
    make_bundle(name, name);
    json_t *job = get_json(name, "job.json");
    json_object_set_new(job, key, json_string(value));
    put_json(name, "job.json", job);
    write_manifest(name, name);
    return in_scratch(name);
}

static enum run_purpose purpose_of(struct store *s, const char *dir)
{
    struct run_data r = must_load(s, must_ingest(s, dir, NULL));
    enum run_purpose p = r.info.purpose;
    run_data_release(&r);
    return p;
}

TEST(a_bundle_tells_its_purpose)
{
    AUTO(store_close) struct store s = open_store("told.db");
    assert_int_equal(purpose_of(&s, make_bundle("plain", "plain")), PURPOSE_SWEEP);
    assert_int_equal(purpose_of(&s, with_job_key("by_key", "purpose", "bisect")), PURPOSE_BISECT);
    assert_int_equal(purpose_of(&s, with_job_key("tagged", "tag", "noise")), PURPOSE_SWEEP);
    must_refuse(&s, with_job_key("unknown", "purpose", "fun"), "purpose is \"fun\"");
}

/* Searches and causes name runs by their row. */
TEST(the_row_of_a_removed_run_stays_its_own)
{
    AUTO(store_close) struct store s = open_store("rows.db");
    struct err err = {0};
    int64_t first = store_run(&s, 0, PURPOSE_SWEEP), removed[2];
    removed[0] = store_run(&s, 1, PURPOSE_BISECT);
    removed[1] = store_run(&s, 2, PURPOSE_BISECT);
    assert_ok(runs_remove(&s, removed, 2, &err), &err);
    int64_t other = store_run(&s, 3, PURPOSE_SWEEP);
    assert_true(other > removed[1] && removed[1] > removed[0] && removed[0] > first);
    struct run_data gone;
    assert_err(run_data_load(&s, removed[1], &gone, &err), &err, ERR_INPUT, "run night-0002 was removed",
               "kernsweep ingest");
    err = (struct err){0};
    assert_int_equal(store_run(&s, 2, PURPOSE_BISECT), removed[1]);
    assert_ok(runs_remove(&s, &removed[1], 1, &err), &err);
    assert_int_equal(store_run(&s, 1, PURPOSE_BISECT), removed[0]);
    assert_int_equal(store_run(&s, 2, PURPOSE_BISECT), removed[1]);
    assert_true(store_run(&s, 4, PURPOSE_SWEEP) > other);
}

GROUP(scratch_make, scratch_remove);
