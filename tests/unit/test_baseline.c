/* baseline: names a run per node, plan and mode; says why one cannot serve. */
#include "tests/unit/results_support.h"

#include "results/query/against.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

static int64_t store_night(struct store *s, int night, const char *node, const char *ticket)
{
    struct draft d;
    draft_night(&d, night);
    snprintf(d.info.node, sizeof d.info.node, "%s", node);
    snprintf(d.info.ticket, sizeof d.info.ticket, "%s", ticket);
    draft_shot(&d, "baseline", 4096, 1, 1.0);
    return must_store(s, &d);
}

TEST(is_set_listed_resolved_and_removed)
{
    AUTO(store_close) struct store s = open_store("baselines.db");
    struct err err = {0};
    struct baseline b;
    struct baseline_list list;
    int64_t first = store_night(&s, 0, "n1", "demo"), second = store_night(&s, 1, "n1", "demo");
    AUTO(run_data_release) struct run_data now = must_load(&s, second);
    assert_err(baseline_resolve(&s, "gold", &now.info, &b, &err), &err, ERR_INPUT, "no baseline \"gold\"",
               "set");
    assert_ok(baseline_set(&s, "gold", first, false, &err), &err);
    assert_ok(baseline_list(&s, &list, &err), &err);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].name, "gold");
    assert_string_equal(list.items[0].run_id, "night-0000");
    assert_string_equal(list.items[0].removed_at, "");
    baseline_list_release(&list);
    assert_ok(baseline_resolve(&s, "gold", &now.info, &b, &err), &err);
    assert_int_equal(b.key, first);

    assert_err(runs_remove(&s, &first, 1, &err), &err, ERR_INPUT, "gold");
    assert_ok(baseline_remove(&s, "gold", NULL, NULL, &err), &err);
    assert_err(baseline_resolve(&s, "gold", &now.info, &b, &err), &err, ERR_INPUT, "was removed on");
    assert_err(baseline_remove(&s, "gold", NULL, NULL, &err), &err, ERR_INPUT, "no baseline");
    assert_ok(baseline_list(&s, &list, &err), &err);
    assert_int_equal(list.count, 0);
    baseline_list_release(&list);
    assert_ok(runs_remove(&s, &first, 1, &err), &err);
}

static int64_t store_repetitions(struct store *s, int night, double prefill_s)
{
    struct draft d;
    draft_night(&d, night);
    for (int r = 1; r <= 3; r++)
        draft_shot(&d, "v", 4096, r, prefill_s * (1 + 0.001 * r));
    draft_shot(&d, "only here", 4096 * (night + 1), 1, 1.0);
    return must_store(s, &d);
}

/* Two runs of 10 s and a newest one of 12 s are a baseline of 10 s. */
TEST(of_several_runs_is_their_median)
{
    static const double prefill_s[] = {10, 10, 12, 12};
    const struct compare_options o = compare_defaults();
    AUTO(store_close) struct store s = open_store("pooled.db");
    AUTO(against_release) struct against a = {0};
    AUTO(comparison_release) struct comparison c = {0};
    struct err err = {0};
    int64_t key = 0;
    for (int i = 0; i < 4; i++) {
        key = store_repetitions(&s, i, prefill_s[i]);
        if (i < 3)
            assert_ok(baseline_set(&s, "gold", key, i > 0, &err), &err);
    }
    AUTO(run_data_release) struct run_data now = must_load(&s, key);
    assert_ok(against_baseline(&s, &now, "gold", &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    const struct delta *d = &c.deltas[0];
    while (strcmp(d->variant, "v") != 0)
        d++;
    assert_int_equal(d->verdict, VERDICT_REGRESSED);
    assert_int_equal(d->base.n, 9);
    assert_true(d->base.median > 9.9 && d->base.median < 10.1);
    assert_int_equal(a.base.cells[0].counted, 3);
}

/* Ten nights at most; the baseline are the first two, of which the second, newer one has the cell "a" alone,
 * in which "b" fails or was not asked for. Tonight both are 20 % slower. */
static void gap_in_the_newest_run(const char *db, int nights, bool failed)
{
    const struct compare_options o = compare_defaults();
    AUTO(store_close) struct store s = open_store(db);
    AUTO(against_release) struct against a = {0};
    AUTO(comparison_release) struct comparison c = {0};
    struct draft d;
    struct err err = {0};
    int64_t key = 0;
    for (int i = 0; i < nights; i++) {
        draft_night(&d, i);
        for (int r = 1; r <= 3; r++) {
            double slower = (i == nights - 1 ? 1.2 : 1) * (1 + 0.001 * r + 0.0005 * (i % 3));
            draft_shot(&d, "a", 4096, r, 10 * slower);
            if (i != 1)
                draft_shot(&d, "b", 4096, r, 5 * slower);
            else if (failed)
                draft_shot(&d, "b", 4096, r, NAN)->status = STATUS_CRASH;
        }
        key = must_store(&s, &d);
        if (i < 2)
            assert_ok(baseline_set(&s, "gold", key, i > 0, &err), &err);
    }
    AUTO(run_data_release) struct run_data now = must_load(&s, key);
    assert_ok(against_baseline(&s, &now, "gold", &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED] + c.verdicts[VERDICT_SUSPECTED], 2);
    assert_near(c.deltas[1].estimate.ratio, 1.2, 0.01);
}

TEST(what_its_newest_run_lacks_its_other_runs_have)
{
    gap_in_the_newest_run("narrowed.db", 3, false);
    gap_in_the_newest_run("failed.db", 3, true);
    gap_in_the_newest_run("narrowed_nights.db", 12, false);
    gap_in_the_newest_run("failed_nights.db", 12, true);
}

TEST(of_another_node_plan_or_mode_is_refused)
{
    AUTO(store_close) struct store s = open_store("others.db");
    struct err err = {0};
    struct baseline b;
    int64_t here = store_night(&s, 0, "n1", "demo"), there = store_night(&s, 1, "n2", "demo");
    int64_t plan = store_night(&s, 2, "n1", "other");
    AUTO(run_data_release) struct run_data run = must_load(&s, here);
    assert_ok(baseline_set(&s, "node", there, false, &err), &err);
    assert_ok(baseline_set(&s, "plan", plan, false, &err), &err);
    assert_ok(baseline_set(&s, "mode", here, false, &err), &err);
    assert_err(baseline_resolve(&s, "node", &run.info, &b, &err), &err, ERR_INPUT, "node n2", "node n1");
    assert_err(baseline_resolve(&s, "plan", &run.info, &b, &err), &err, ERR_INPUT, "plan other", "plan demo");
    snprintf(run.info.mode, sizeof run.info.mode, "debug");
    assert_err(baseline_resolve(&s, "mode", &run.info, &b, &err), &err, ERR_INPUT, "mode perf", "mode debug");
}

TEST(several_runs_make_one)
{
    AUTO(store_close) struct store s = open_store("several.db");
    struct err err = {0};
    struct baseline b;
    int64_t keys[3], *held;
    size_t n;
    for (int i = 0; i < 3; i++) {
        keys[i] = store_night(&s, i, "n1", "demo");
        assert_ok(baseline_set(&s, "gold", keys[i], i > 0, &err), &err);
    }
    AUTO(run_data_release) struct run_data run = must_load(&s, store_night(&s, 9, "n1", "demo"));
    assert_ok(baseline_resolve(&s, "gold", &run.info, &b, &err), &err);
    assert_int_equal(b.runs, 3);
    assert_int_equal(b.key, keys[2]);
    assert_ok(baseline_runs(&s, &b, &held, &n, &err), &err);
    assert_int_equal(n, 3);
    assert_int_equal(held[0], keys[2]);
    assert_int_equal(held[2], keys[0]);
    free(held);
    assert_ok(baseline_set(&s, "gold", keys[0], false, &err), &err);
    assert_ok(baseline_resolve(&s, "gold", &run.info, &b, &err), &err);
    assert_int_equal(b.runs, 1);
}

TEST(needs_something_to_compare_with)
{
    AUTO(store_close) struct store s = open_store("useless.db");
    struct err err = {0};
    struct draft d;
    draft_night(&d, 0);
    draft_shot(&d, "baseline", 4096, 1, 1.0)->status = STATUS_TIMEOUT;
    int64_t key = must_store(&s, &d);
    assert_err(baseline_set(&s, "gold", key, false, &err), &err, ERR_INPUT, "no OK measurement");
    assert_err(baseline_set(&s, "bad name", key, false, &err), &err, ERR_INPUT, "bad name");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM baseline"), 0);
}

TEST(the_same_name_on_two_nodes_must_be_told_apart)
{
    AUTO(store_close) struct store s = open_store("same.db");
    struct err err = {0};
    assert_ok(baseline_set(&s, "gold", store_night(&s, 0, "n1", "demo"), false, &err), &err);
    assert_ok(baseline_set(&s, "gold", store_night(&s, 1, "n2", "demo"), false, &err), &err);
    assert_err(baseline_remove(&s, "gold", NULL, NULL, &err), &err, ERR_INPUT, "2 baselines", "--node");
    assert_ok(baseline_remove(&s, "gold", "n1", NULL, &err), &err);
    assert_ok(baseline_remove(&s, "gold", NULL, NULL, &err), &err);
}

/* A baseline holds the run's row while a partial run is replaced by its complete self. */
TEST(survives_the_replacement_of_its_run)
{
    AUTO(store_close) struct store s = open_store("replaced.db");
    struct err err = {0};
    struct ingest_result result;
    make_bundle("part", "run-part");
    unlink(in_scratch("part/manifest.json"));
    unlink(in_scratch("part/v3/ctx_512_run2/perf.json"));
    assert_ok(ingest_bundle(&s, in_scratch("part"), NULL, &result, &err), &err);
    assert_ok(baseline_set(&s, "gold", result.key, false, &err), &err);
    assert_ok(ingest_bundle(&s, make_bundle("full", "run-part"), NULL, &result, &err), &err);
    assert_int_equal(result.effect, INGEST_REPLACED);
    AUTO(run_data_release) struct run_data run = must_load(&s, result.key);
    struct baseline b;
    assert_ok(baseline_resolve(&s, "gold", &run.info, &b, &err), &err);
    assert_int_equal(b.key, result.key);
}

GROUP(scratch_make, scratch_remove);
