/* The B3.89 and B3.90 tables, from the stored fixtures: every number that the reports print, and the one
 * thing that they overlooked. And what folders of that executor look like when something went wrong. */
#include "tests/unit/results_support.h"

#include "results/judge/compare.h"
#include "results/judge/scaling.h"
#include "results/judge/within.h"
#include "results/query/find_run.h"
#include "results/store/details.h"

/* Two decimals, as the tables print factors. */
#define assert_shown(value, text)                                                                            \
    do {                                                                                                     \
        char shown_[32];                                                                                     \
        snprintf(shown_, sizeof shown_, "%.2fx", (value));                                                   \
        assert_string_equal(shown_, text);                                                                   \
    } while (0)

static double factor(const struct run_data *r, const char *variant, const char *reference, int context)
{
    size_t v = (size_t)(run_data_variant(r, variant) - r->variants),
           b = (size_t)(run_data_variant(r, reference) - r->variants);
    return compare_pair(r, v, b, context, METRIC_PREFILL_S).factor;
}

TEST(scaling_of_the_core_run)
{
    AUTO(store_close) struct store s = open_store("core.db");
    AUTO(scaling_set_release) struct scaling_set set = {0};
    AUTO(run_data_release)
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-12"));
    scaling_of_run(&r, &set);
    assert_int_equal(set.count, 1);
    const struct scaling *k = &set.items[0];
    assert_string_equal(r.variants[k->variant].name, "baseline");
    assert_int_equal(k->count, 3);
    const double factors[] = {1.0, 5.0, 20.6}, expected[] = {1, 4, 16}, speed[] = {180, 72, 35};
    for (size_t i = 0; i < 3; i++) {
        assert_near(k->rows[i].factor, factors[i], 0.05);
        assert_near(k->rows[i].expected, expected[i], 0);
        assert_near(k->rows[i].tok_per_s, speed[i], 0.5);
    }
    assert_true(isnan(k->rows[0].step));
    assert_near(k->rows[2].step, 469.749 / 114.265, 1e-9);
    assert_near(k->rows[2].step_expected, 4, 0);
    assert_near(k->exponent, 2.18, 0.01);
    const struct cell *c = run_data_cell(&r, "baseline", 4096);
    assert_near(c->median[METRIC_WALL_S], 44.878227250, 0);
    assert_near(c->median[METRIC_DECODE_S], 2.63e-07, 0);
    assert_string_equal(c->attn_impl, "flash_v2_naive");
    assert_int_equal(c->status, STATUS_OK);
}

TEST(first_variants_against_the_baseline)
{
    AUTO(store_close) struct store s = open_store("first.db");
    AUTO(run_data_release)
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-10"));
    assert_shown(factor(&r, "v1", "baseline", 4096), "0.11x");
    assert_shown(factor(&r, "v3", "baseline", 4096), "1.21x");
    const struct cell *v2 = run_data_cell(&r, "v2", 4096);
    assert_int_equal(v2->status, STATUS_TIMEOUT);
    assert_true(isnan(v2->median[METRIC_PREFILL_S]));
    assert_true(isnan(factor(&r, "v2", "baseline", 4096)));
    assert_int_equal(r.info.counts.total, 6);
    assert_int_equal(r.info.counts.failed, 1);
}

TEST(perf_run_of_three_variants)
{
    AUTO(store_close) struct store s = open_store("perf.db");
    AUTO(run_data_release)
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_90_2026-02-14"));
    assert_shown(factor(&r, "baseline", "baseline", 8192), "1.00x");
    assert_shown(factor(&r, "v3", "baseline", 8192), "0.11x");
    assert_shown(factor(&r, "v4", "baseline", 8192), "0.20x");
    assert_shown(factor(&r, "v3", "baseline", 16384), "0.09x");
    assert_shown(factor(&r, "v4", "baseline", 16384), "0.16x");
    assert_shown(factor(&r, "v4", "v3", 8192), "1.75x");
    assert_shown(factor(&r, "v4", "v3", 16384), "1.78x");
    assert_string_equal(run_data_cell(&r, "v4", 8192)->attn_impl, "v4_ql_v_lds");
}

static const struct delta *row(const struct comparison *c, const char *variant, int context)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->deltas[i].variant, variant) == 0 && c->deltas[i].context == context)
            return &c->deltas[i];
    fail_msg("no row for %s at %d", variant, context);
    return NULL;
}

TEST(what_the_reports_overlooked)
{
    AUTO(store_close) struct store s = open_store("overlooked.db");
    AUTO(comparison_release) struct comparison c = {0};
    const struct compare_options o = compare_defaults();
    struct run_data before = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-12")),
                    after = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_90_2026-02-14"));
    compare_runs(&before, &after, NULL, &o, &c);
    const struct delta *d = row(&c, "baseline", 8192);
    assert_int_equal(d->verdict, VERDICT_REGRESSED);
    assert_shown(d->estimate.ratio, "3.53x");
    assert_near(d->base.median, 114.265, 0);
    assert_near(d->now.median, 403.26, 0);
    d = row(&c, "baseline", 16384);
    assert_int_equal(d->verdict, VERDICT_REGRESSED);
    assert_shown(d->estimate.ratio, "2.52x");
    assert_int_equal(row(&c, "baseline", 4096)->verdict, VERDICT_MISSING);
    assert_int_equal(row(&c, "v3", 8192)->verdict, VERDICT_NEW);
    assert_true(comparison_regressed(&c));
    run_data_release(&before);
    run_data_release(&after);
}

/* A folder of the layout with one file. */
static const char *b3_folder(const char *name, const char *file, const char *text)
{
    static char dir[FS_PATH_MAX];
    char path[512];
    snprintf(path, sizeof path, "%s/2026-02-14/b3_89/%s", name, file);
    put(path, text);
    snprintf(path, sizeof path, "%s/2026-02-14/b3_89", name);
    snprintf(dir, sizeof dir, "%s", in_scratch(path));
    return dir;
}

#define PERF_OK                                                                                              \
    "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"wall_time_sec\":40,\"mode\":\"perf\","                   \
    "\"timings\":{\"prefill_s\":18.5,\"attn_impl\":\"flash_v2_naive\"}}"
#define EVENT(name, fields)                                                                                  \
    "{\"event\":\"" name "\",\"ts\":\"2026-02-14T03:15:00Z\",\"mode\":\"perf\"," fields "}\n"
#define TEST_FIELDS(v, ctx, i) "\"variant\":\"" v "\",\"ctx\":" #ctx ",\"run_idx\":" #i
#define NOT_TIMED ",\"prefill_s\":\"NA\",\"attn_impl\":\"NA\",\"model_load_s\":\"NA\",\"decode_s\":\"NA\""

/* Six tests of three variants: one is measured, one crashed, one ran into its time limit, one was going on
 * when the log ends; v2 did not compile, v4 spilled. */
static const char failing_log[] = "=================================================================\n" EVENT(
    "SUITE_START",
    "\"total_tests\":9,\"variants\":\"baseline,v2,v4\",\"contexts\":\"4096,8192\","
    "\"repeat_map\":\"4096:2,8192:1\"") "=== Processing Variant: baseline ===\n" EVENT("TEST_START",
                                                                                       TEST_FIELDS(
                                                                                           "baseline", 4096,
                                                                                           0) ",\"timeout_"
                                                                                              "s\":10800")
    EVENT("TEST_END",
          TEST_FIELDS("baseline", 4096,
                      0) ",\"exit_code\":0,\"exit_status\":\"OK\",\"wall_s\":40,"
                         "\"prefill_s\":18.5,\"attn_impl\":\"flash_v2_naive\",\"decode_s\":\"2.63e-07\"")
        EVENT(
            "TEST_START",
            TEST_FIELDS(
                "baseline", 4096,
                1) ",\"timeout_s\":10800") "CRITICAL: Run 1 crashed (Exit 139)\n" EVENT("TEST_END",
                                                                                        TEST_FIELDS(
                                                                                            "baseline", 4096,
                                                                                            1) ",\"exit_"
                                                                                               "code\":139,"
                                                                                               "\"exit_"
                                                                                               "status\":"
                                                                                               "\"FAIL\","
                                                                                               "\"wall_s\":"
                                                                                               "\"."
                                                                                               "51"
                                                                                               "\"" NOT_TIMED)
            EVENT("TEST_START", TEST_FIELDS("baseline", 8192, 0) ",\"timeout_s\":21600") EVENT(
                "TEST_END",
                TEST_FIELDS("baseline", 8192,
                            0) ",\"exit_code\":124,\"exit_status\":\"FAIL\","
                               "\"wall_s\":21600.2" NOT_TIMED) "BUILD FAILED for v2. Check build.log\n"
                                                               "GATE FAILED for v4. Skipping execution.\n";

static const struct run_test *test_at(const struct run_data *r, const char *variant, int context,
                                      int repetition)
{
    for (size_t i = 0; i < r->n_tests; i++)
        if (strcmp(r->variants[r->tests[i].variant].name, variant) == 0 && r->tests[i].context == context &&
            r->tests[i].repetition == repetition)
            return &r->tests[i];
    fail_msg("no test of %s at %d, repetition %d", variant, context, repetition);
    return NULL;
}

TEST(a_log_keeps_failures)
{
    AUTO(store_close) struct store s = open_store("failures.db");
    b3_folder("failures", "baseline/ctx_4096_run0/perf.json", PERF_OK);
    b3_folder("failures", "baseline/ctx_4096_run1/perf.json",
              "{\"ticket\":\"b3_89\",\"exit_status\":\"FAIL\",\"wall_time_sec\": "
              ".51,\"mode\":\"perf\",\"timings\": \n}");
    const char *dir = b3_folder("failures", "b3_89_remote.log", failing_log);
    struct ingest_result result = ingested(&s, dir, NULL);
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_int_equal(r.n_tests, 9);
    assert_int_equal(r.info.counts.ok, 1);
    const struct run_test *t = test_at(&r, "baseline", 4096, 0);
    assert_int_equal(t->exit_code, 0);
    assert_near(t->timeout_s, 10800, 0);
    t = test_at(&r, "baseline", 4096, 1);
    assert_int_equal(t->status, STATUS_CRASH);
    assert_int_equal(t->exit_code, 139);
    assert_int_equal(t->signal, 11);
    assert_near(t->value[METRIC_WALL_S], 0.51, 1e-12);
    t = test_at(&r, "baseline", 8192, 0);
    assert_int_equal(t->status, STATUS_TIMEOUT);
    assert_int_equal(t->exit_code, 124);
    assert_near(t->value[METRIC_WALL_S], 21600.2, 1e-9);
    assert_int_equal(test_at(&r, "v2", 8192, 0)->status, STATUS_SKIPPED);
    assert_int_equal(run_data_variant(&r, "v2")->status, STATUS_BUILD_FAILED);
    assert_int_equal(run_data_variant(&r, "v4")->status, STATUS_GATE_FAILED);
    assert_int_equal(r.info.status, RUN_PARTIAL); /* the suite has no end */
}

TEST(a_test_without_an_end_is_interrupted)
{
    AUTO(store_close) struct store s = open_store("unended.db");
    const struct ingest_options options = {.ticket = "b3_89", .node = NODE};
    const char *dir = b3_folder(
        "unended", "run.log",
        EVENT("SUITE_START",
              "\"total_tests\":3,\"variants\":\"v3\",\"contexts\":4096,\"repeat_map\":\"4096:3\"")
            EVENT("TEST_START", TEST_FIELDS("v3", 4096, 0) ",\"timeout_s\":10800")
                EVENT("TEST_END",
                      TEST_FIELDS("v3", 4096,
                                  0) ",\"exit_code\":137,\"exit_status\":\"FAIL\",\"wall_s\":3" NOT_TIMED)
                    EVENT("TEST_START", TEST_FIELDS("v3", 4096, 1) ",\"timeout_s\":10800")
                        EVENT("SUITE_END", "\"total_tests\":3"));
    struct ingest_result result = ingested(&s, dir, &options);
    assert_int_equal(result.warnings, 1);
    assert_non_null(strstr(result.warning, "2 of the tests that the log counts have no result"));
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_int_equal(r.info.status, RUN_PARTIAL);
    assert_int_equal(r.n_tests, 2);
    assert_int_equal(test_at(&r, "v3", 4096, 0)->signal, 9);
    assert_int_equal(test_at(&r, "v3", 4096, 1)->status, STATUS_INTERRUPTED);
}

/* The executor was started again: the last outcome counts, and a test that it found done was not skipped. The
 * last test printed its timings twice, which broke its event into two lines. */
TEST(a_log_of_two_starts)
{
    AUTO(store_close) struct store s = open_store("twice.db");
    const struct ingest_options options = {.ticket = "b3_89", .node = NODE};
#define SUITE                                                                                                \
    EVENT("SUITE_START", "\"total_tests\":2,\"variants\":\"v3\",\"contexts\":4096,\"repeat_map\":\"4096:"    \
                         "2\"")
    const char *dir = b3_folder(
        "twice", "remote.log",
        SUITE EVENT("TEST_END",
                    TEST_FIELDS("v3", 4096, 0) ",\"exit_code\":0,\"exit_status\":\"OK\",\"prefill_s\":18.5")
            EVENT("TEST_START", TEST_FIELDS("v3", 4096, 1)) "BUILD FAILED for v3. Check build.log\n" SUITE
                EVENT("TEST_SKIP", TEST_FIELDS("v3", 4096, 0) ",\"reason\":\"perf.json exists (OK)\"")
                    EVENT("TEST_START", TEST_FIELDS("v3", 4096, 1)) EVENT(
                        "TEST_END",
                        TEST_FIELDS("v3", 4096,
                                    1) ",\"exit_code\":0,\"exit_status\":\"OK\",\"prefill_s\":\"19.9\n18.7\"")
                        EVENT("SUITE_END", "\"completed\":2"));
    AUTO(run_data_release) struct run_data r = must_load(&s, ingested(&s, dir, &options).key);
    assert_int_equal(r.info.status, RUN_COMPLETE);
    assert_int_equal(r.info.counts.ok, 2);
    assert_int_equal(run_data_variant(&r, "v3")->status, STATUS_OK);
    assert_near(run_data_cell(&r, "v3", 4096)->median[METRIC_PREFILL_S], 18.6, 1e-12);
}

TEST(gates_and_resources_are_read)
{
    AUTO(store_close) struct store s = open_store("gate_log.db");
    struct err err = {0};
    AUTO(details_release) struct run_details details = {0};
    b3_folder("gate_log", "v3/ctx_4096_run0/perf.json", PERF_OK);
    b3_folder("gate_log", "v3_gate.log",
              "=== B3.89 Scratch Spill Gate ===\nDetected Scratch Usage: 0 bytes\n"
              "GATE PASSED: Zero scratch spilling.\n");
    b3_folder("gate_log", "v4_gate.log",
              "  WARNING: SCRATCH SPILLING DETECTED!\nGATE FAILED: Scratch spilling detected (528 bytes).\n");
    const char *dir =
        b3_folder("gate_log", "v3_resources.txt",
                  "\nKernel: a\n  VGPRs:   19\n  SGPRs:   30\n  LDS:     36864 bytes\n  Scratch: 0 bytes\n"
                  "\nKernel: b\n  VGPRs:   ?\n  Scratch: -4 bytes\n");
    AUTO(run_data_release) struct run_data r = must_load(&s, ingested(&s, dir, NULL).key);
    const struct run_variant *v3 = run_data_variant(&r, "v3"), *v4 = run_data_variant(&r, "v4");
    assert_near(v3->value[METRIC_VGPRS], 19, 0);
    assert_near(v3->value[METRIC_SCRATCH_BYTES], 0, 0);
    assert_non_null(v4);
    assert_int_equal(v4->status, STATUS_GATE_FAILED);
    assert_non_null(strstr(v4->reason, "528 bytes"));
    assert_ok(details_load(&s, r.info.key, &details, &err), &err);
    assert_int_equal(details.n_gates, 2);
}

/* The first format had no mode: launches were blocking and kernels serialised. */
TEST(determinism_is_the_mode_debug)
{
    AUTO(store_close) struct store s = open_store("determinism.db");
    const char *dir =
        b3_folder("determinism", "runs/ctx_4096/perf.json",
                  "{\"ticket\":\"b3_89\",\"context_len\":4096,\"determinism\":\"on\",\"wall_time_sec\":44.9,"
                  "\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":22.7681}}");
    AUTO(run_data_release) struct run_data r = must_load(&s, ingested(&s, dir, NULL).key);
    assert_string_equal(r.info.mode, "debug");
}

TEST(the_first_repetition_can_be_discarded)
{
    AUTO(store_close) struct store s = open_store("warmup.db");
    const struct ingest_options counted = {.node = NODE},
                                discarded = {.node = NODE, .warmup = 1, .replace = true};
    b3_folder("warmup", "v3/ctx_4096_run0/perf.json",
              "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":3.0}}");
    b3_folder("warmup", "v3/ctx_8192_run0/perf.json",
              "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":9.0}}");
    const char *dir =
        b3_folder("warmup", "v3/ctx_4096_run1/perf.json",
                  "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":1.0}}");
    struct ingest_result result = ingested(&s, dir, &counted);
    assert_non_null(strstr(result.note, "--warmup 1"));
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_near(run_data_cell(&r, "v3", 4096)->median[METRIC_PREFILL_S], 2.0, 1e-12);
    run_data_release(&r);
    result = ingested(&s, dir, &discarded);
    assert_string_equal(result.note, "");
    r = must_load(&s, result.key);
    assert_near(run_data_cell(&r, "v3", 4096)->median[METRIC_PREFILL_S], 1.0, 1e-12);
    assert_near(run_data_cell(&r, "v3", 8192)->median[METRIC_PREFILL_S], 9.0, 1e-12); /* its only one */
}

/* A perf.json as it was found, the number of warnings, and what it is stored as. */
TEST(one_bad_file_does_not_lose_the_folder)
{
    static const struct {
        const char *text;
        int warnings;
        enum status status;
        double prefill_s; /* NaN: none */
    } cases[] = {
        {"{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\": {\"prefill_s\": 7.5}\n{\"prefill_s\": "
         "8.5}\n}",
         1, STATUS_OK, 8.5},
        {"{\"ticket\":\"b3_89\",\"wall_time_sec\": .51,\"exit_status\":\"OK\",\"timings\": {\"prefill_s\": "
         ".25}}",
         0, STATUS_OK, 0.25},
        {"\xef\xbb\xbf{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\": {\"prefill_s\": 1}}", 0,
         STATUS_OK, 1},
        {"{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\": {\"prefill_s\": 1,\"decode_s\": NaN}}", 1,
         STATUS_OK, 1},
        {"{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"timings\": {\"prefill_s\": Infinity}}", 2,
         STATUS_INVALID, NAN},
        {"{\"ticket\":\"b3_89\",\"wall_time_sec\":\"fast\",\"timings\": {\"prefill_s\": 1}}", 1,
         STATUS_INVALID, NAN},
        {"{\"ticket\":\"b3_89\",", 1, STATUS_INVALID, NAN},
        {"", 1, STATUS_INVALID, NAN},
    };
    AUTO(store_close) struct store s = open_store("bad_file.db");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[32];
        snprintf(name, sizeof name, "bad_file%zu", i);
        b3_folder(name, "v3/ctx_4096_run0/perf.json", PERF_OK);
        const char *dir = b3_folder(name, "v3/ctx_4096_run1/perf.json", cases[i].text);
        struct ingest_result result = ingested(&s, dir, NULL);
        if (result.warnings != cases[i].warnings)
            fail_msg("case %zu: %d warnings: %s", i, result.warnings, result.warning);
        if (result.warnings)
            assert_non_null(strstr(result.warning, "ctx_4096_run1/perf.json"));
        AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
        assert_int_equal(r.n_tests, 2);
        const struct run_test *t = test_at(&r, "v3", 4096, 1);
        assert_int_equal(t->status, cases[i].status);
        if (isnan(cases[i].prefill_s))
            assert_false(t->value[METRIC_PREFILL_S] > 0 && t->status == STATUS_OK);
        else
            assert_near(t->value[METRIC_PREFILL_S], cases[i].prefill_s, 0);
    }
}

/* The error says what is missing, and what to do. */
TEST(folders_of_another_shape_say_what_they_lack)
{
    AUTO(store_close) struct store s = open_store("shapes.db");
    struct err err = {0};
    struct ingest_result result;
    assert_err(ingest_bundle(&s, b3_folder("other", "results/one.json", "{}"), NULL, &result, &err), &err,
               ERR_INPUT, "no perf.json", "1 other JSON or CSV file", "kernsweep import --map MAP --one-run");
    assert_err(ingest_bundle(&s, b3_folder("prose", "report.md", "text"), NULL, &result, &err), &err,
               ERR_INPUT, "no perf.json", "not a run's folder");
    assert_err(ingest_bundle(&s, b3_folder("silent", "build.log", "make: done\n"),
                             &(struct ingest_options){.ticket = "x"}, &result, &err),
               &err, ERR_INPUT, "no events of a test");
    char dir[FS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s",
             b3_folder("anonymous", "v3/ctx_1_run0/perf.json",
                       "{\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":1}}"));
    must_refuse(&s, dir, "--ticket", "kernsweep import");
    assert_err(ingest_bundle(&s, in_scratch("other/2026-02-14/b3_89/results/one.json"), NULL, &result, &err),
               &err, ERR_INPUT, "a file, not a run's folder", "kernsweep import");
    make_bundle("parent/run_a", "run-a");
    make_bundle("parent/run_b", "run-b");
    must_refuse(&s, in_scratch("parent"), "the bundles of 2 runs");
    b3_folder("mixed", "b3_89/v3/ctx_1_run0/perf.json", PERF_OK);
    assert_err(ingest_bundle(&s,
                             b3_folder("mixed", "b3_90/v3/ctx_1_run0/perf.json", "{\"ticket\":\"b3_90\"}"),
                             NULL, &result, &err),
               &err, ERR_INPUT, "ticket is \"b3_90\"", "name each run's folder");
    const struct ingest_options options = {.ticket = "mine", .date = "2026-02-15"};
    result = ingested(&s, dir, &options);
    assert_memory_equal(result.run_id, "20260215-mine-", 14);
    int64_t key = 0; /* the folder is still a name of the run, without the options */
    assert_ok(store_find_run(&s, dir, &key, &err), &err);
    assert_int_equal(key, result.key);
}

/* The reading is part of the identity: node, log and options. */
TEST(another_reading_is_named_and_replaces)
{
    AUTO(store_close) struct store s = open_store("reading.db");
    struct err err = {0};
    struct ingest_result first, second;
    const struct ingest_options plain = {0}, node = {.node = NODE}, replace = {.node = NODE, .replace = true};
    const char *dir = b3_folder("reading", "v3/ctx_4096_run0/perf.json", PERF_OK);
    first = ingested(&s, dir, &plain);
    assert_int_equal(ingested(&s, dir, &plain).effect, INGEST_ALREADY);
    assert_err(ingest_bundle(&s, dir, &node, &second, &err), &err, ERR_INPUT, "node none -> " NODE,
               "--replace");
    assert_int_equal(
        sqlite3_exec(s.db, "UPDATE run SET rejected_at = 1, rejected_why = 'node unknown'", NULL, NULL, NULL),
        SQLITE_OK);
    second = ingested(&s, dir, &replace);
    assert_int_equal(second.effect, INGEST_REPLACED);
    assert_int_equal(second.key, first.key);
    assert_string_equal(second.run_id, first.run_id);
    assert_int_equal(ingested(&s, dir, &replace).effect, INGEST_ALREADY);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run WHERE node = '" NODE
                                   "' AND length(reading_sha256) = 64"
                                   " AND rejected_why = 'node unknown'"),
                     1);
    dir = b3_folder("reading", "remote.log", EVENT("SUITE_START", "\"total_tests\":1"));
    assert_err(ingest_bundle(&s, dir, &node, &second, &err), &err, ERR_INPUT, "(log none -> ", "--replace");
    second = ingested(&s, dir, &replace);
    AUTO(run_data_release) struct run_data r = must_load(&s, second.key);
    assert_int_equal(r.info.status, RUN_PARTIAL);
}

GROUP(scratch_make, scratch_remove);
