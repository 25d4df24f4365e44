/* history: one median a night, in the order of the nights, of the nights that count. */
#include "tests/unit/results_support.h"

#include "results/history.h"

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

static void nights_come_in_order(void **state)
{
    (void)state;
    struct store s = open_store("nights.db");
    struct err err = {0};
    struct history h;
    /* Ingested out of order. */
    store_night(&s, 2, "", RUN_COMPLETE, 12);
    store_night(&s, 0, "", RUN_COMPLETE, 10);
    int64_t last = store_night(&s, 5, "", RUN_COMPLETE, 15);
    store_night(&s, 1, "", RUN_COMPLETE, 11);
    store_night(&s, 3, "", RUN_PARTIAL, 50);
    store_night(&s, 4, "trial", RUN_COMPLETE, 60);
    struct run_data now = must_load(&s, last);
    assert_ok(history_for_run(&s, &now.info, false, &h, &err), &err);
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
    history_release(&h);
    run_data_release(&now);
    store_close(&s);
}

static void may_be_narrowed(void **state)
{
    (void)state;
    struct store s = open_store("narrow.db");
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

    const int64_t only[] = {keys[0], keys[2]};
    o = (struct history_options){.node = NODE, .ticket = "demo", .mode = "perf", .only = only, .n_only = 2};
    assert_ok(history_load(&s, &o, &h, &err), &err);
    const struct history_series *picked = history_find(&h, "baseline", 4096, METRIC_PREFILL_S);
    assert_int_equal(picked->count, 2);
    assert_near(picked->points[1].median, 24, 1e-9);
    history_release(&h);

    o.node = "elsewhere";
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.count, 0);
    history_release(&h);
    store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nights_come_in_order),
        cmocka_unit_test(may_be_narrowed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
