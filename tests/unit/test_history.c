/* history: one median per night, in the order of the nights, of valid nights only. */
#include "tests/unit/results_support.h"

#include "results/judge/nights/history.h"
#include "results/query/against.h"
#include "results/query/history_load.h"
#include "results/query/timeline.h"
#include "results/store/runs.h"

static int64_t store_night(struct store *s, int night, const char *tag, enum run_status status,
                           double prefill)
{
    struct draft d;
    draft_night(&d, night);
    snprintf(d.info.tag, sizeof d.info.tag, "%s", tag);
    d.info.status = status;
    draft_shot(&d, "v3", 4096, 1, 99)->warmup = true;
    draft_shot(&d, "v3", 4096, 2, prefill);
    draft_shot(&d, "v3", 4096, 3, prefill + 0.2);
    draft_shot(&d, "v3", 4096, 4, 77)->status = STATUS_TIMEOUT;
    draft_shot(&d, "v3", 8192, 1, 4 * prefill);
    draft_shot(&d, "baseline", 4096, 1, 2 * prefill);
    return must_store(s, &d);
}

TEST(nights_come_in_order)
{
    AUTO(store_close) struct store s = open_store("nights.db");
    struct err err = {0};
    AUTO(history_release) struct history h = {0};
    /* Ingested out of order. */
    store_night(&s, 2, "", RUN_COMPLETE, 12);
    store_night(&s, 0, "", RUN_COMPLETE, 10);
    int64_t last = store_night(&s, 5, "", RUN_COMPLETE, 15);
    store_night(&s, 1, "", RUN_COMPLETE, 11);
    store_night(&s, 3, "", RUN_PARTIAL, 50);
    store_night(&s, 4, "trial", RUN_COMPLETE, 60);
    AUTO(run_data_release) struct run_data now = must_load(&s, last);
    assert_ok(history_for_run(&s, &now.info, NULL, 0, METRIC_PREFILL_S, false, &h, &err), &err);
    assert_int_equal(h.count, 3);
    assert_int_equal(h.nights, 3);
    const struct history_series *series = history_find(&h, "v3", 4096, METRIC_PREFILL_S);
    assert_non_null(series);
    assert_int_equal(series->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_near(series->points[i].median, 10.1 + (double)i, 1e-9);
        assert_int_equal(series->points[i].n, 2);
    }
    assert_null(history_find(&h, "v3", 4096, METRIC_WALL_S));
    assert_null(history_find(&h, "v9", 4096, METRIC_PREFILL_S));
}

TEST(a_history_is_filtered_by_its_options)
{
    AUTO(store_close) struct store s = open_store("narrow.db");
    struct err err = {0};
    struct history h;
    int64_t keys[4];
    for (int i = 0; i < 4; i++)
        keys[i] = store_night(&s, i, i == 3 ? "trial" : "", RUN_COMPLETE, 10 + i);
    struct history_options o = {
        .node = NODE, .ticket = "demo", .mode = "perf", .variant = "v3", .context = 8192};
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.series[0].count, 4);
    history_release(&h);

    o.nights = 2;
    o.all_metrics = true;
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.count, 3);
    const struct history_series *speed = history_find(&h, "v3", 8192, METRIC_TOK_PER_S);
    assert_int_equal(speed->count, 2);
    assert_near(speed->points[0].median, 8192 / 48.0, 1e-9);
    assert_near(history_find(&h, "v3", 8192, METRIC_WALL_S)->points[1].median, 53, 1e-9);
    history_release(&h);

    /* Only the newest night, and the oldest with those around it. */
    o = (struct history_options){.node = NODE, .ticket = "demo", .mode = "perf", .nights = 1};
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.nights, 1);
    history_release(&h);
    o.keep = keys;
    o.n_keep = 1;
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_true(h.nights > 1);
    history_release(&h);

    o.node = "elsewhere";
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.count, 0);
    history_release(&h);
}

/* A run of the sources `source` ("": unknown) on a date. */
static int64_t store_sources(struct store *s, int number, int night, const char *source, bool dirty,
                             double prefill)
{
    struct draft d;
    draft_night(&d, night);
    snprintf(d.info.run_id, sizeof d.info.run_id, "run-%04d", number);
    sha256_of(d.info.run_id, strlen(d.info.run_id), d.info.content_sha256);
    when_format(when_midnight(d.info.date) + (int64_t)number * 1000, d.info.started_at);
    if (*source)
        sha256_of(source, strlen(source), d.info.source_sha256);
    memset(d.info.revision.commit, 'a', 40);
    d.info.revision.dirty = dirty;
    draft_shot(&d, "v3", 4096, 1, prefill);
    draft_shot(&d, "v3", 4096, 2, prefill);
    if (number % 2 == 0)
        draft_shot(&d, "v4", 4096, 1, prefill);
    return must_store(s, &d);
}

static void load_all(struct store *s, const int64_t *keep, size_t n, int64_t before, struct history *out)
{
    struct err err = {0};
    const struct history_options o = {.node = NODE,
                                      .ticket = "demo",
                                      .mode = "perf",
                                      .keep = keep,
                                      .n_keep = n,
                                      .before = before,
                                      .metric = METRIC_PREFILL_S};
    assert_ok(history_load(s, &o, out, &err), &err);
}

TEST(the_sources_of_a_date_are_one_night_however_many_runs)
{
    AUTO(store_close) struct store s = open_store("one-night.db");
    AUTO(history_release) struct history h = {0};
    store_sources(&s, 0, 0, "a", false, 10);
    for (int i = 1; i <= 5; i++)
        store_sources(&s, i, 1, "a", false, 10 + i);
    store_sources(&s, 6, 1, "b", false, 20);
    store_sources(&s, 7, 2, "", false, 30);
    store_sources(&s, 8, 2, "", false, 31);
    load_all(&s, NULL, 0, 0, &h);
    assert_int_equal(h.nights, 5);
    const struct history_series *v3 = history_find(&h, "v3", 4096, METRIC_PREFILL_S),
                                *v4 = history_find(&h, "v4", 4096, METRIC_PREFILL_S);
    assert_int_equal(v3->count, 5);
    assert_near(v3->points[1].median, 13, 1e-9);
    assert_int_equal(v3->points[1].n, 10);
    assert_near(v3->points[2].median, 20, 1e-9);
    assert_int_equal(v4->count, 4);
    assert_near(v4->points[1].median, 13, 1e-9);
    assert_int_equal(v4->points[1].run_key, v3->points[1].run_key);
}

TEST(another_run_of_the_same_night_is_no_night_before)
{
    AUTO(store_close) struct store s = open_store("tonight.db");
    AUTO(history_release) struct history h = {0};
    store_sources(&s, 0, 0, "a", false, 10);
    store_sources(&s, 1, 1, "b", false, 12);
    int64_t again = store_sources(&s, 2, 1, "b", false, 12);
    load_all(&s, NULL, 0, again, &h);
    assert_int_equal(h.nights, 1);
}

TEST(a_run_with_local_changes_is_no_night_unless_it_is_kept)
{
    AUTO(store_close) struct store s = open_store("local.db");
    struct history h = {0};
    store_sources(&s, 0, 0, "a", false, 10);
    int64_t changed = store_sources(&s, 1, 1, "b", true, 12);
    int64_t now = store_sources(&s, 2, 2, "b", false, 12);
    load_all(&s, NULL, 0, now, &h);
    assert_int_equal(h.nights, 1);
    assert_int_equal(h.changed, 1);
    history_release(&h);
    load_all(&s, &changed, 1, now, &h);
    assert_int_equal(h.nights, 2);
    history_release(&h);
}

/* The night before the change was an outlier, on other sources already: the change began after the night
 * before that one, not after the outlier. */
TEST(a_change_may_have_begun_with_a_night_that_was_set_aside)
{
    AUTO(store_close) struct store s = open_store("odd.db");
    struct err err = {0};
    AUTO(timeline_release) struct timeline t = {0};
    const struct changes_options options = changes_defaults();
    for (int i = 0; i < 40; i++) {
        struct draft d;
        draft_night(&d, i);
        sha256_of(i < 24 ? "a" : "b", 1, d.info.source_sha256);
        draft_shot(&d, "v3", 4096, 1, i == 24 ? 20 : (i < 24 ? 10 : 11) + 0.02 * (i * 7 % 5));
        must_store(&s, &d);
    }
    struct timeline_filter f = {.variant = "v3", .context = 4096};
    assert_ok(timeline_load(&s, &f, &options, &t, &err), &err);
    assert_int_equal(t.n_changes, 1);
    const struct timeline_change *c = &t.changes[0];
    assert_true(t.points[24].odd);
    assert_int_equal(c->change.at, 25);
    assert_int_equal(c->facts.count, 1);
    assert_string_equal(c->facts.items[0].key, "source");
    assert_int_equal(c->change.last, 23);
}

/* Forty nights; from the 25th on v3 is a tenth slower, built from other sources, on another driver. */
static void store_step(struct store *s)
{
    struct err err = {0};
    for (int i = 0; i < 40; i++) {
        struct draft d;
        draft_night(&d, i);
        sha256_of(i < 25 ? "a" : "b", 1, d.info.source_sha256);
        draft_add_fact(&d, "driver", i < 25 ? "6.8" : "6.9", &err);
        draft_add_fact(&d, "rocm", "6.2", &err);
        double level = (i < 25 ? 10 : 11) + 0.02 * (i * 7 % 5);
        draft_shot(&d, "v3", 4096, 1, level);
        draft_shot(&d, "v3", 4096, 2, level + 0.01);
        if (i == 30)
            d.info.purpose = PURPOSE_CONFIRM;
        must_store(s, &d);
    }
}

TEST(a_change_comes_with_its_run_and_its_facts)
{
    AUTO(store_close) struct store s = open_store("step.db");
    struct err err = {0};
    struct timeline t;
    const struct changes_options options = changes_defaults();
    store_step(&s);
    struct timeline_filter f = {.variant = "v3", .context = 4096};
    assert_ok(timeline_load(&s, &f, &options, &t, &err), &err);
    assert_string_equal(t.node, NODE);
    assert_int_equal(t.count, 39);
    assert_string_equal(t.points[0].run_id, "night-0000");
    assert_int_equal(t.points[0].n, 2);
    assert_int_equal(t.n_changes, 1);
    const struct timeline_change *c = &t.changes[0];
    assert_string_equal(t.points[c->change.at].run_id, "night-0025");
    assert_near(c->change.ratio, 1.1, 0.005);
    assert_int_equal(c->facts.count, 2);
    assert_string_equal(c->facts.items[0].key, "source");
    assert_string_equal(c->facts.items[1].key, "driver");
    assert_string_equal(c->facts.items[1].now, "6.9");
    timeline_release(&t);

    f.nights = 5;
    f.metric = "tok_per_s";
    assert_ok(timeline_load(&s, &f, &options, &t, &err), &err);
    assert_int_equal(t.count, 5);
    assert_int_equal(t.n_changes, 0);
    timeline_release(&t);
}

/* A night whose plan judges by a throughput; the prefill time is always the same. */
static int64_t store_rate(struct store *s, int night, const char *unit, double rate)
{
    struct draft d;
    struct err err = {0};
    draft_night(&d, night);
    d.metrics[d.n_metrics] =
        (struct metric_definition){.name = "rate", .better = METRIC_MORE, .primary = true};
    snprintf(d.metrics[d.n_metrics++].unit, LIMIT_UNIT + 1, "%s", unit);
    for (int i = 1; i <= 3; i++) {
        draft_shot(&d, "v3", 4096, i, 10);
        assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], "rate", rate * (1 + 0.002 * i), &err), &err);
    }
    return must_store(s, &d);
}

TEST(a_metric_of_ones_own_has_a_history_in_one_unit)
{
    struct store s = open_store("rates.db");
    struct err err = {0};
    struct timeline t;
    const struct changes_options options = changes_defaults();
    for (int i = 0; i < 5; i++)
        store_rate(&s, i, "MB/s", 400e3);
    for (int i = 5; i < 20; i++)
        store_rate(&s, i, "GB/s", 400 + i % 3);
    const struct timeline_filter f = {.variant = "v3", .context = 4096};
    assert_ok(timeline_load(&s, &f, &options, &t, &err), &err);
    assert_string_equal(metric_info(t.metric)->name, "rate");
    assert_int_equal(t.count, 15);
    assert_int_equal(t.n_changes, 0);
    timeline_release(&t);
    store_close(&s);
    metric_forget();
}

TEST(nights_judge_a_metric_of_ones_own_the_right_way_round)
{
    struct store s = open_store("rate-nights.db");
    struct err err = {0};
    const struct compare_options options = compare_defaults();
    const struct {
        double rate;
        enum verdict verdict;
    } cases[] = {{401, VERDICT_UNCHANGED}, {800, VERDICT_IMPROVED}, {300, VERDICT_SUSPECTED}};
    for (int i = 0; i < 15; i++)
        store_rate(&s, i, "GB/s", 400 + i % 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO(against_release) struct against a = {0};
        AUTO(comparison_release) struct comparison c = {0};
        struct run_data now = must_load(&s, store_rate(&s, 20 + (int)i, "GB/s", cases[i].rate));
        assert_ok(against_nights(&s, &now, &options, &a, &err), &err);
        assert_ok(against_compare(&a, &now, &c, &err), &err);
        assert_string_equal(metric_info(c.primary)->name, "rate");
        assert_int_equal(c.verdicts[cases[i].verdict], 1);
        run_data_release(&now);
    }
    store_close(&s);
    metric_forget();
}

TEST(an_unclear_cell_is_asked_about)
{
    AUTO(store_close) struct store s = open_store("unclear.db");
    struct err err = {0};
    AUTO(timeline_release) struct timeline t = {0};
    const struct changes_options options = changes_defaults();
    struct timeline_filter f = {.variant = "v3", .context = 4096};
    assert_err(timeline_load(&s, &f, &options, &t, &err), &err, ERR_INPUT, "v3", "4096");
    for (int i = 0; i < 2; i++) {
        struct draft d;
        draft_night(&d, i);
        snprintf(d.info.ticket, sizeof d.info.ticket, i ? "one" : "two");
        draft_shot(&d, "v3", 4096, 1, 10);
        must_store(&s, &d);
    }
    assert_err(timeline_load(&s, &f, &options, &t, &err), &err, ERR_INPUT, "plan one", "plan two",
               "--ticket");
    f.ticket = "two";
    assert_ok(timeline_load(&s, &f, &options, &t, &err), &err);
    assert_int_equal(t.count, 1);
}

GROUP(scratch_make, scratch_remove);
