/* Where tests ran, from bundles to the store and back: GPUs and their modes, neighbours, sweeps, axes; and
 * what the store's readers make of it: a history per GPU, and what a move to another one says. */
#include "tests/unit/results_support.h"

#include "results/query/against.h"
#include "results/query/export.h"
#include "results/query/history_load.h"
#include "results/query/timeline.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

static const char *const modes[] = {"SPX/NPS1", "SPX/NPS1", "CPX/NPS4"};

/* Repetition i of each cell ran on GPU i, beside i others. */
static const char *bundle_with_places(const char *name, const char *id, const char *journal)
{
    static const char *const variants[] = {"baseline", "v3"};
    make_bundle(name, id);
    for (int v = 0; v < 2; v++)
        for (int c = 256; c <= 512; c *= 2)
            for (int i = 1; i <= 2; i++) {
                char dir[256], gpu[32];
                snprintf(dir, sizeof dir, "%s/%s/ctx_%d_run%d", name, variants[v], c, i);
                snprintf(gpu, sizeof gpu, "GPU-%d", i);
                json_t *perf = get_json(dir, "perf.json");
                json_object_set_new(perf, "gpus",
                                    json_pack("[{s:s, s:i, s:s, s:s}]", "id", gpu, "index", i, "pci",
                                              "0000:c1:00.0", "mode", modes[i]));
                json_object_set_new(perf, "beside", json_integer(i));
                put_json(dir, "perf.json", perf);
            }
    char path[512];
    json_t *job = get_json(name, "job.json");
    json_object_set_new(job, "sweep", json_string("sweep-7"));
    json_t *first = json_array_get(json_object_get(job, "variants"), 0);
    json_object_set_new(first, "axes", json_pack("{s:i, s:s}", "batch", 4, "dtype", "bf16"));
    put_json(name, "job.json", job);
    snprintf(path, sizeof path, "%s/events.jsonl", name);
    if (journal)
        put(path, journal);
    write_manifest(name, id);
    return in_scratch(name);
}

TEST(a_bundle_says_where_its_tests_ran)
{
    AUTO(store_close) struct store s = open_store("places.db");
    AUTO(run_data_release)
    struct run_data r =
        must_load(&s, must_ingest(&s, bundle_with_places("places", "run-places", NULL), NULL));
    assert_string_equal(r.info.sweep, "sweep-7");
    assert_string_equal(r.variants[0].axes, "{\"batch\":4,\"dtype\":\"bf16\"}");
    assert_string_equal(r.variants[1].axes, "");
    assert_int_equal(r.n_tests, 8);
    for (size_t i = 0; i < r.n_tests; i++) {
        const struct run_test *t = &r.tests[i];
        assert_string_equal(t->gpu, t->repetition == 1 ? "GPU-1" : "GPU-2");
        assert_string_equal(t->gpu_mode, modes[t->repetition]);
        assert_int_equal(t->beside, t->repetition);
    }
}

static int collect(void *arg, const char *text, size_t len, struct err *err)
{
    (void)err;
    buf_add(arg, text, len);
    return 0;
}

TEST(an_export_has_the_places)
{
    AUTO(store_close) struct store s = open_store("export.db");
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    int64_t key = must_ingest(&s, bundle_with_places("exported", "run-exported", NULL), NULL);
    assert_ok(export_tests(&s, key, EXPORT_CSV, collect, &out, &err), &err);
    assert_non_null(strstr(buf_str(&out), "gpu,gpu_mode,beside"));
    assert_non_null(strstr(buf_str(&out), "GPU-2,CPX/NPS4,2"));
    buf_clear(&out);
    assert_ok(export_sql(&s, collect, &out, &err), &err);
    assert_non_null(strstr(buf_str(&out), "CREATE TABLE together"));
}

TEST(a_journal_that_names_another_gpu_is_believed_more)
{
    static const char *const journals[] = {
        "{\"seq\":1,\"event\":\"TEST_START\",\"test_index\":1,\"gpus\":[\"GPU-1\"]}\n"
        "{\"seq\":2,\"event\":\"TEST_END\",\"test_index\":1,\"exit_status\":\"OK\"}\n",
        "{\"seq\":1,\"event\":\"TEST_START\",\"test_index\":1,\"gpus\":[\"GPU-2\"]}\n"
        "{\"seq\":2,\"event\":\"TEST_END\",\"test_index\":1,\"exit_status\":\"OK\"}\n",
        /* what was started again counts as it was started last */
        "{\"seq\":1,\"event\":\"TEST_START\",\"test_index\":1,\"gpus\":[\"GPU-2\"]}\n"
        "{\"seq\":2,\"event\":\"TEST_START\",\"test_index\":1,\"gpus\":[\"GPU-1\"]}\n"
        "{\"seq\":3,\"event\":\"TEST_END\",\"test_index\":1,\"exit_status\":\"OK\"}\n"};
    AUTO(store_close) struct store s = open_store("journal.db");
    for (size_t i = 0; i < COUNT(journals); i++) {
        char name[16];
        snprintf(name, sizeof name, "journal%zu", i);
        struct run_data r = must_load(&s, must_ingest(&s, bundle_with_places(name, name, journals[i]), NULL));
        assert_int_equal(r.tests[0].status, i == 1 ? STATUS_INVALID : STATUS_OK);
        if (i == 1)
            assert_non_null(strstr(r.tests[0].reason, "names another"));
        run_data_release(&r);
    }
}

TEST(what_is_no_gpu_is_refused)
{
    static const char *const bad[] = {"[{\"id\": \"\"}]",
                                      "[{\"id\": \"a+b\"}]",
                                      "[{\"id\": \"a\"}, {\"id\": \"a\"}]",
                                      "[{\"id\": 3}]",
                                      "\"GPU-1\"",
                                      "[{\"id\": \"a\", \"mode\": \"x y\"}]",
                                      "[{}]"};
    AUTO(store_close) struct store s = open_store("hostile.db");
    for (size_t i = 0; i < COUNT(bad); i++) {
        char name[16], dir[64];
        snprintf(name, sizeof name, "hostile%zu", i);
        make_bundle(name, name);
        snprintf(dir, sizeof dir, "%s/baseline/ctx_256_run1", name);
        json_t *perf = get_json(dir, "perf.json");
        json_object_set_new(perf, "gpus", json_loads(bad[i], JSON_DECODE_ANY, NULL));
        put_json(dir, "perf.json", perf);
        write_manifest(name, name);
        AUTO(run_data_release) struct run_data r = must_load(&s, must_ingest(&s, in_scratch(name), NULL));
        assert_int_equal(r.tests[0].status, STATUS_INVALID);
        assert_int_equal(r.tests[1].status, STATUS_OK);
    }
}

/* Nights in the store ---------------------------------------------------------------------------------------
 */

/* A night on these GPUs, one repetition each and cell; GPU-1 is 4.5 % slower. gpus: NULL for a run of a time
 * when tests named none. */
static int64_t store_night(struct store *s, int night, const char *const *gpus, size_t n, double factor)
{
    struct draft d;
    struct stats_rng rng;
    stats_rng_seed(&rng, (uint64_t)night + 1);
    draft_night(&d, night);
    for (int c = 0; c < 8; c++)
        for (size_t i = 0; i < n; i++)
            for (int r = 0; r < 2; r++) {
                double slow = strcmp(gpus[i], "GPU-1") == 0 ? 1.045 : 1;
                struct run_test *t =
                    draft_shot(&d, "v", 1024 + c, (int)(2 * i) + r + 1,
                               (1 + c) * slow * (c == 0 ? factor : 1) * (1 + 0.002 * stats_rng_normal(&rng)));
                t->gpu = gpus[i];
            }
    return must_store(s, &d);
}

/* Other tools do not say on which GPU a test ran. */
TEST(tests_without_a_gpu_have_the_only_one_of_their_node)
{
    static const char *const nameless[] = {""};
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("nameless.db");
    for (int several = 0; several < 2; several++) {
        struct draft d;
        draft_night(&d, several);
        draft_shot(&d, "v", 1024, 1, 1);
        assert_ok(draft_add_fact(&d, "gpus0.unique_id", "0xAB", &err), &err);
        assert_ok(draft_add_fact(&d, "gpus0.compute_partition", "SPX", &err), &err);
        assert_ok(draft_add_fact(&d, "gpus0.memory_partition", "NPS1", &err), &err);
        if (several)
            assert_ok(draft_add_fact(&d, "gpus1.unique_id", "0xCD", &err), &err);
        AUTO(run_data_release) struct run_data r = must_load(&s, must_store(&s, &d));
        assert_string_equal(r.tests[0].gpu, "");
        assert_int_equal(test_device(&r, &r.tests[0]), several ? 0 : gpu_identity("GPU-ab", "SPX/NPS1"));
    }
    /* Their nights go on in those of tests that name it. */
    store_night(&s, 2, nameless, 1, 1);
    AUTO(history_release) struct history h = {0};
    const struct history_options o = {.node = NODE,
                                      .ticket = "demo",
                                      .mode = "perf",
                                      .variant = "v",
                                      .context = 1024,
                                      .metric = METRIC_PREFILL_S};
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.series[0].count, 3);
    assert_int_equal(h.series[0].points[0].device, gpu_identity("ab", "SPX/NPS1"));
    assert_int_equal(h.series[0].points[1].device, 0);
    assert_int_equal(h.series[0].points[2].device, 0);
}

TEST(a_history_has_a_point_for_each_gpu)
{
    static const char *const both[] = {"GPU-0", "GPU-1"};
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("points.db");
    for (int night = 0; night < 3; night++)
        store_night(&s, night, both, 2, 1);
    struct history h;
    const struct history_options o = {.node = NODE,
                                      .ticket = "demo",
                                      .mode = "perf",
                                      .variant = "v",
                                      .context = 1024,
                                      .metric = METRIC_PREFILL_S};
    assert_ok(history_load(&s, &o, &h, &err), &err);
    assert_int_equal(h.series[0].count, 6);
    assert_int_equal(h.series[0].points[0].n, 2);
    assert_int_not_equal(h.series[0].points[0].device, h.series[0].points[1].device);
    assert_true(h.series[0].points[1].median > 1.03 * h.series[0].points[0].median);
    history_release(&h);

    const struct changes_options changes = changes_defaults();
    struct timeline t;
    struct timeline_filter f = {.variant = "v", .context = 1024};
    assert_ok(timeline_load(&s, &f, &changes, &t, &err), &err);
    assert_int_equal(t.count, 3);
    assert_int_equal(t.left_out, 3);
    assert_string_equal(t.points[0].gpu, t.points[2].gpu);
    timeline_release(&t);
    f.gpu = "1";
    assert_ok(timeline_load(&s, &f, &changes, &t, &err), &err);
    assert_int_equal(t.count, 3);
    assert_string_equal(t.points[0].gpu, "GPU-1");
    assert_near(t.points[0].median, 1.045, 0.02);
    timeline_release(&t);
    f.gpu = "GPU-9";
    assert_int_equal(timeline_load(&s, &f, &changes, &t, &err), -1);
    assert_non_null(strstr(err.msg, "names a GPU \"GPU-9\""));
}

static struct comparison must_compare(struct store *s, int64_t base, int64_t now, struct against *a)
{
    struct err err = {0};
    struct comparison c;
    const struct compare_options o = compare_defaults();
    struct run_data run = must_load(s, now);
    *a = (struct against){0};
    assert_ok(against_run(s, &run, base, &o, a, &err), &err);
    assert_ok(against_compare(a, &run, &c, &err), &err);
    run_data_release(&run);
    return c;
}

/* However well the two cards are known: a run that used both is compared with each on its own card. */
TEST(a_cell_that_moved_to_another_card_is_inconclusive)
{
    static const char *const first[] = {"GPU-0"}, *const second[] = {"GPU-1"},
                             *const both[] = {"GPU-0", "GPU-1"};
    AUTO(store_close) struct store s = open_store("moves.db");
    struct against a;
    int64_t base = store_night(&s, 1, first, 1, 1);
    store_night(&s, 2, both, 2, 1);
    int64_t moved = store_night(&s, 3, second, 1, 1), slower = store_night(&s, 4, both, 2, 1.08);
    struct comparison c = must_compare(&s, base, moved, &a);
    assert_int_equal(c.count, 8);
    for (size_t i = 0; i < c.count; i++) {
        assert_int_equal(c.deltas[i].verdict, VERDICT_NOISY);
        assert_true(c.deltas[i].doubts.other_device);
        assert_int_equal(c.deltas[i].reason, REASON_OTHER_GPU);
        assert_string_equal(c.deltas[i].base.gpu, "GPU-0");
        assert_string_equal(c.deltas[i].now.gpu, "GPU-1");
    }
    assert_false(comparison_regressed(&c));
    comparison_release(&c);
    against_release(&a);

    c = must_compare(&s, base, slower, &a);
    assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 1);
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
    against_release(&a);
}

GROUP(scratch_make, scratch_remove);
