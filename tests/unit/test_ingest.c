/* ingest: both layouts, all or nothing, idempotent; errors name the cause. */
#include "tests/unit/results_support.h"

#include "results/query/find_run.h"
#include "results/store/runs.h"
#include "results/store/samples.h"

#include <unistd.h>

TEST(a_bundle_comes_back_as_it_was)
{
    AUTO(store_close) struct store s = open_store("whole.db");
    struct err err = {0};
    int64_t key = must_ingest(&s, make_bundle("whole", "20260214T031500Z-demo-aaaaaa"), NULL);
    AUTO(run_data_release) struct run_data r = must_load(&s, key);
    assert_string_equal(r.info.run_id, "20260214T031500Z-demo-aaaaaa");
    assert_string_equal(r.info.node, NODE);
    assert_string_equal(r.info.started_at, "2026-02-14T03:15:00.000Z");
    assert_int_equal(r.info.status, RUN_COMPLETE);
    assert_int_equal(r.info.counts.total, 8);
    assert_int_equal(r.info.counts.ok, 8);
    assert_near(r.info.wall_s, 30, 0);
    assert_int_equal(r.n_variants, 2);
    assert_string_equal(r.variants[0].name, "baseline");
    assert_true(r.variants[1].build_cached);
    assert_int_equal(r.n_cells, 4);

    const struct cell *c = run_data_cell(&r, "v3", 512);
    assert_non_null(c);
    assert_string_equal(c->attn_impl, "v3_q_lds");
    assert_int_equal(c->ok, 2);
    assert_near(c->median[METRIC_PREFILL_S], 1.015, 1e-12);
    assert_near(c->median[METRIC_TOK_PER_S], (512 / 1.01 + 512 / 1.02) / 2, 1e-9);
    assert_near(c->median[METRIC_VRAM_PEAK], 3.0 * (1 << 30), 0);
    const struct run_test *t = &r.tests[c->first];
    assert_string_equal(t->started_at, "2026-02-14T03:15:09.250Z");
    assert_int_equal(t->prompt_tokens, 512);
    assert_string_equal(t->host, "n1");
    assert_int_equal(t->signal, RUN_UNKNOWN);
    assert_near(t->used.cpu_user_s, 1.5, 0);
    assert_near(t->used.vram_max_gap_ms, 101.5, 0);

    struct samples samples;
    assert_ok(samples_load(&s, t->key, &samples, &err), &err);
    assert_int_equal(samples.count, 3);
    assert_near(samples_column(&samples, "vram_used")[1], 3221225472.0, 0);
    assert_true(isnan(samples_column(&samples, "vram_used")[2]));
    samples_release(&samples);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM extra JOIN quantity ON quantity_id = quantity.id"
                                   " WHERE name = 'checksum' AND value = 12.5"),
                     8);
}

TEST(facts_are_kept_without_what_is_fleeting_or_secret)
{
    AUTO(store_close) struct store s = open_store("facts.db");
    struct run_data r = must_load(&s, must_ingest(&s, make_bundle("facts", "run-facts"), NULL));
    assert_string_equal(run_data_fact(&r, "driver"), "6.8.5");
    assert_string_equal(run_data_fact(&r, "compilers.hipcc.version"), "6.2.0");
    assert_string_equal(run_data_fact(&r, "gpus0.name"), "MI300X");
    assert_string_equal(run_data_fact(&r, "env.HIP_LAUNCH_BLOCKING"), "1");
    assert_string_equal(run_data_fact(&r, "env.TOKEN"), "***");
    assert_string_equal(run_data_fact(&r, "env.baseline.X"), "y");
    assert_null(run_data_fact(&r, "time"));
    assert_null(run_data_fact(&r, "disk_free_bytes"));
    assert_null(run_data_fact(&r, "gpus0.vram_used_bytes"));
    run_data_release(&r);
    must_ingest(&s, make_bundle("facts2", "run-facts2"), NULL);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM environment"), 1);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM document"), 1);
}

TEST(storing_a_bundle_twice_is_idempotent)
{
    AUTO(store_close) struct store s = open_store("twice.db");
    struct ingest_result first, second;
    const char *dir = make_bundle("twice", "run-twice");
    first = ingested(&s, dir, NULL);
    assert_int_equal(first.effect, INGEST_STORED);
    assert_int_equal(first.tests, 8);
    assert_int_equal(first.warnings, 0);
    second = ingested(&s, dir, NULL);
    assert_int_equal(second.effect, INGEST_ALREADY);
    assert_int_equal(second.tests, 8);
    assert_int_equal(second.key, first.key);
    assert_string_equal(second.run_id, "run-twice");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 8);
}

TEST(a_run_dated_in_the_future_is_not_the_newest_for_years)
{
    AUTO(store_close) struct store s = open_store("future.db");
    AUTO(draft_release) struct draft d = {0};
    struct err err = {0};
    struct ingest_result result;
    draft_init(&d);
    draft_night(&d, 1);
    snprintf(d.info.date, sizeof d.info.date, "2099-01-01");
    snprintf(d.info.started_at, sizeof d.info.started_at, "2099-01-01T00:00:00.000Z");
    draft_shot(&d, "v4", 4096, 1, 0.5);
    assert_ok(draft_finish(&d, &err), &err);
    assert_ok(ingest_draft(&s, &d, &result, &err), &err);
    assert_int_equal(result.warnings, 1);
    assert_non_null(strstr(result.warning, "2099-01-01"));
    assert_int_equal(query_int(&s, "SELECT ordered_at = ingested_at AND started_at > ingested_at FROM run"),
                     1);
}

TEST(a_complete_run_never_changes)
{
    AUTO(store_close) struct store s = open_store("changed.db");
    must_ingest(&s, make_bundle("before", "run-changed"), NULL);
    make_bundle("after", "run-changed");
    put("after/baseline/build.log", "rebuilt\n");
    write_manifest("after", "run-changed");
    must_refuse(&s, in_scratch("after"), "run-changed", "different contents");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 8);
}

TEST(an_open_run_is_partial_until_it_is_closed)
{
    AUTO(store_close) struct store s = open_store("partial.db");
    make_bundle("open", "run-open");
    unlink(in_scratch("open/manifest.json"));
    unlink(in_scratch("open/v3/ctx_512_run2/perf.json"));
    struct ingest_result result = ingested(&s, in_scratch("open"), NULL);
    struct run_data r = must_load(&s, result.key);
    assert_int_equal(r.info.status, RUN_PARTIAL);
    assert_int_equal(r.info.counts.total, 8);
    assert_int_equal(r.info.counts.ok, 7);
    assert_int_equal(r.info.counts.failed + r.info.counts.skipped, 0);
    int64_t key = result.key;
    run_data_release(&r);

    result = ingested(&s, make_bundle("closed", "run-open"), NULL);
    assert_int_equal(result.effect, INGEST_REPLACED);
    assert_int_equal(result.key, key);
    r = must_load(&s, key);
    assert_int_equal(r.info.status, RUN_COMPLETE);
    assert_int_equal(r.info.counts.total, 8);
    run_data_release(&r);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM telemetry"), 8);
}

TEST(a_file_that_was_changed_is_named)
{
    AUTO(store_close) struct store s = open_store("hash.db");
    make_bundle("hash", "run-hash");
    put("hash/v3/ctx_256_run1/vram_samples.jsonl", "{}\n");
    must_refuse(&s, in_scratch("hash"), "v3/ctx_256_run1/vram_samples.jsonl");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
}

TEST(a_name_that_climbs_out_is_refused)
{
    AUTO(store_close) struct store s = open_store("climb.db");
    make_bundle("climb", "run-climb");
    put("climb/manifest.json", "{\"schema\":\"kernsweep.manifest/1\",\"run_id\":\"run-climb\",\"files\":"
                               "[{\"path\":\"../../etc/passwd\",\"size\":1,\"sha256\":\"00\"}]}");
    must_refuse(&s, in_scratch("climb"), "../../etc/passwd");
}

/* Each with the file and what is wrong there. The manifest is right every time: only the contents are not. */
TEST(a_hostile_job_is_refused)
{
    static const struct {
        const char *file, *text, *says;
    } cases[] = {
        {"job.json", "[]", "$.run_id"},
        {"job.json", "{\"schema\":\"kernsweep.job/1\",\"run_id\":\"../x\"}", "$.run_id"},
        {"job.json", "{\"schema\":\"kernsweep.job/9\",\"run_id\":\"x\"}", "kernsweep.job/9"},
        {"job.json",
         "{\"schema\":\"kernsweep.job/"
         "1\",\"run_id\":\"x\",\"ticket\":\"t\",\"date\":\"2026-02-30\",\"mode\":\"perf\"}",
         "2026-02-30"},
    };
    AUTO(store_close) struct store s = open_store("hostile.db");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[256];
        fs_remove_tree(in_scratch("hostile"), NULL);
        make_bundle("hostile", "run-hostile");
        snprintf(path, sizeof path, "hostile/%s", cases[i].file);
        put(path, cases[i].text);
        write_manifest("hostile", "run-hostile");
        must_refuse(&s, in_scratch("hostile"), cases[i].says);
    }
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM series"), 0);
}

#define PERF_OF_V3                                                                                           \
    "\"schema\":\"kernsweep.perf/1\",\"run_id\":\"run-hostile\",\"variant\":\"v3\",\"context_len\":256,"     \
    "\"repetition\":1"

/* The run is stored without what cannot be believed; the warning has the file and the place in it. */
TEST(one_bad_file_does_not_lose_a_finished_run)
{
    static const struct {
        const char *file, *text, *says;
        enum run_status status;
        int ok;
    } cases[] = {
        {"summary.json", "{\"run_id\":\"other\",\"status\":\"COMPLETE\"}",
         "summary.json: $: is of run \"other\"", RUN_PARTIAL, 8},
        {"summary.json", "{\"run_id\":\"run-hostile\",\"status\":\"FINE\"}", "FINE", RUN_PARTIAL, 8},
        {"summary.json", "not json", "not valid JSON", RUN_PARTIAL, 8},
        {"node.json", "[1]", "node.json: $: expected an object", RUN_COMPLETE, 8},
        {"plan.json", "7", "plan.json: $: expected an object", RUN_COMPLETE, 8},
        {"v3/resources.json", "[", "v3/resources.json:1:1: not valid JSON", RUN_COMPLETE, 8},
        {"v3/ctx_256_run1/perf.json", "{\"schema\":\"kernsweep.perf/1\"}", "perf.json: $.run_id",
         RUN_COMPLETE, 7},
        {"v3/ctx_256_run1/perf.json",
         "{\"schema\":\"kernsweep.perf/1\",\"run_id\":\"run-hostile\",\"variant\":\"v3\",\"context_len\":512,"
         "\"repetition\":1}",
         "contradicts its folder", RUN_COMPLETE, 7},
        {"v3/ctx_256_run1/perf.json", "{" PERF_OF_V3 ",\"exit_status\":\"GREAT\"}",
         "$.exit_status: unknown status \"GREAT\"", RUN_COMPLETE, 7},
        {"v3/ctx_256_run1/perf.json", "{" PERF_OF_V3 ",\"wall_time_sec\":-1}", "$.wall_time_sec",
         RUN_COMPLETE, 7},
        {"v3/ctx_256_run1/perf.json", "{" PERF_OF_V3 ",\"vram\":{\"peak_bytes\":\"many\"}}",
         "$.vram.peak_bytes", RUN_COMPLETE, 7},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct store s = open_store("one_bad.db");
        char path[256];
        fs_remove_tree(in_scratch("hostile"), NULL);
        make_bundle("hostile", "run-hostile");
        snprintf(path, sizeof path, "hostile/%s", cases[i].file);
        put(path, cases[i].text);
        write_manifest("hostile", "run-hostile");
        struct ingest_result result = ingested(&s, in_scratch("hostile"), NULL);
        assert_true(result.warnings > 0);
        if (!strstr(result.warning, cases[i].says))
            fail_msg("case %zu: %s", i, result.warning);
        struct run_data r = must_load(&s, result.key);
        assert_int_equal(r.info.status, cases[i].status);
        assert_int_equal(r.info.counts.ok, cases[i].ok);
        assert_int_equal(r.info.counts.total, 8);
        if (cases[i].ok == 7)
            assert_int_equal(run_data_cell(&r, "v3", 256)->status, STATUS_INVALID);
        run_data_release(&r);
        store_close(&s);
        unlink(in_scratch("one_bad.db"));
    }
}

TEST(resources_that_cannot_be_are_left_out)
{
    AUTO(store_close) struct store s = open_store("resources.db");
    make_bundle("resources", "run-resources");
    put("resources/v3/resources.json", "{\"kernels\":[{\"name\":\"a\",\"scratch_bytes\":\"0\",\"vgprs\":40},"
                                       "{\"name\":\"b\",\"scratch_bytes\":-4,\"vgprs\":19}]}");
    write_manifest("resources", "run-resources");
    struct ingest_result result = ingested(&s, in_scratch("resources"), NULL);
    assert_int_equal(result.warnings, 2);
    assert_non_null(
        strstr(result.warning, "v3/resources.json: $.kernels[0].scratch_bytes: expected a number"));
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_true(isnan(run_data_variant(&r, "v3")->value[METRIC_SCRATCH_BYTES]));
    assert_near(run_data_variant(&r, "v3")->value[METRIC_VGPRS], 40, 0);
    assert_int_equal(r.info.status, RUN_COMPLETE);
}

TEST(the_wall_time_is_enough_where_no_test_has_more)
{
    AUTO(store_close) struct store s = open_store("wall.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "a", 64, 1, NAN)->value[METRIC_WALL_S] = 2;
    draft_shot(&d, "b", 64, 1, NAN)->value[METRIC_WALL_S] = 3;
    AUTO(run_data_release) struct run_data r = must_load(&s, must_store(&s, &d));
    assert_int_equal(r.tests[0].status, STATUS_OK);
    assert_int_equal(run_data_metric(&r), METRIC_WALL_S);
    run_data_release(&r);
    draft_night(&d, 2);
    draft_shot(&d, "a", 64, 1, 1);
    draft_shot(&d, "b", 64, 1, NAN)->value[METRIC_WALL_S] = 3;
    r = must_load(&s, must_store(&s, &d));
    assert_int_equal(r.tests[0].status, STATUS_OK);
    assert_int_equal(r.tests[1].status, STATUS_INVALID);
}

TEST(a_foreign_time_beyond_its_wall_time_is_left_out)
{
    AUTO(store_close) struct store s = open_store("impossible.db");
    const struct ingest_options options = {.node = NODE};
    put("impossible/2026-02-11/b3_89/v3/ctx_4096_run0/perf.json",
        "{\"ticket\":\"b3_89\",\"context_len\":4096,\"exit_status\":\"OK\",\"wall_time_sec\":5.0,"
        "\"timings\":{\"prefill_s\":1800,\"decode_s\":1}}");
    struct ingest_result result = ingested(&s, in_scratch("impossible/2026-02-11/b3_89"), &options);
    assert_non_null(
        strstr(result.warning, "prefill_s of 1800 s is longer than the wall time of 5 s; left out"));
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_int_equal(r.tests[0].status, STATUS_INVALID);
    assert_true(isnan(r.tests[0].value[METRIC_PREFILL_S]));
    assert_true(r.tests[0].value[METRIC_DECODE_S] == 1);
}

TEST(an_ok_without_a_time_is_not_believed)
{
    AUTO(store_close) struct store s = open_store("zero.db");
    const struct ingest_options options = {.node = NODE};
    put("zero/2026-02-11/b3_89/v3/ctx_4096_run0/perf.json",
        "{\"ticket\":\"b3_89\",\"context_len\":4096,\"exit_status\":\"OK\",\"timings\":{\"prefill_s\":0}}");
    struct ingest_result result = ingested(&s, in_scratch("zero/2026-02-11/b3_89"), &options);
    assert_int_equal(result.warnings, 1);
    assert_non_null(strstr(result.warning, "prefill"));
    AUTO(run_data_release) struct run_data r = must_load(&s, result.key);
    assert_int_equal(r.tests[0].status, STATUS_INVALID);
    assert_true(isnan(r.cells[0].median[METRIC_PREFILL_S]));
}

TEST(links_are_refused)
{
    AUTO(store_close) struct store s = open_store("link.db");
    put("l/2026-02-12/x/v3/ctx_1_run0/perf.json", "{\"ticket\":\"x\"}");
    assert_int_equal(symlink("/etc", in_scratch("l/2026-02-12/x/v3/ctx_2_run0")), 0);
    must_refuse(&s, in_scratch("l/2026-02-12/x"), "ctx_2_run0");
}

TEST(a_word_finds_its_run)
{
    AUTO(store_close) struct store s = open_store("find.db");
    struct err err = {0};
    int64_t first = must_ingest(&s, make_bundle("find1", "20260214T031500Z-demo-aaaaaa"), NULL), key = 0;
    assert_err(store_find_run(&s, "2027", &key, &err), &err, ERR_INPUT, "2027", "kernsweep runs");
    int64_t second = must_ingest(&s, make_bundle("find2", "20260214T031500Z-demo-bbbbbb"), NULL);
    assert_ok(store_find_run(&s, "latest", &key, &err), &err);
    assert_int_equal(key, second);
    assert_ok(store_find_run(&s, "20260214T031500Z-demo-a", &key, &err), &err);
    assert_int_equal(key, first);
    assert_ok(store_find_run(&s, in_scratch("find2"), &key, &err), &err);
    assert_int_equal(key, second);
    assert_err(store_find_run(&s, "20260214T", &key, &err), &err, ERR_INPUT, "demo-aaaaaa", "demo-bbbbbb");
    assert_err(store_find_run(&s, "%", &key, &err), &err, ERR_INPUT, "no such run");

    struct run_list list;
    const struct run_filter filter = {.ticket = "demo", .limit = 1};
    assert_ok(runs_list(&s, &filter, &list, &err), &err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.runs[0].key, second);
    run_list_release(&list);
    assert_ok(runs_remove(&s, &first, 1, &err), &err);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 8);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM telemetry"), 8);
}

/* An OK of the bundle's first test, whose perf.json says 1.01 s. */
static const char *bundle_with_witness(const char *name, const char *file, const char *text)
{
    make_bundle(name, name);
    char path[256];
    snprintf(path, sizeof path, "%s/%s", name, file);
    put(path, text);
    write_manifest(name, name);
    return in_scratch(name);
}

TEST(a_record_that_its_witnesses_contradict_is_invalid)
{
    static const struct {
        const char *event, *why;
    } table[] = {
        {"\"exit_status\":\"OK\",\"prefill_s\":0.001,\"wall_s\":1.51",
         "says prefill_s 1.01, but the journal says 0.001"},
        {"\"exit_status\":\"OK\",\"prefill_s\":1.01,\"wall_s\":3",
         "says wall_time_sec 1.51, but the journal says 3"},
        {"\"exit_status\":\"TIMEOUT\",\"wall_s\":1.51", "says OK, but the journal says TIMEOUT"},
        {"\"exit_status\":\"OK\",\"prefill_s\":1.01,\"wall_s\":1.51", ""},
        {"\"exit_status\":\"OK\"", ""},
        {"\"exit_status\":\"OK\",\"metrics\":{\"checksum\":12.5}", ""},
        {"\"exit_status\":\"OK\",\"metrics\":{\"checksum\":0.001}",
         "says checksum 12.5, but the journal says 0.001"},
        {"\"exit_status\":\"OK\",\"metrics\":{\"gone\":7}", "has no gone, but the journal says 7"},
        {"\"exit_status\":\"OK\",\"metrics\":{\"checksum\":12.5},\"perf_sha256\":\"0123456789abcdef\"",
         "was changed after the test had ended"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char name[32], text[2048];
        snprintf(name, sizeof name, "witness%zu", i);
        int len = snprintf(
            text, sizeof text,
            "not JSON\n{\"event\":\"TEST_END\",\"test_index\":1,\"exit_status\":\"INTERRUPTED\"}\n"
            "{\"event\":\"TEST_END\",\"test_index\":1,%s}\n{\"event\":\"TEST_END\",\"test_index\":999}\n",
            table[i].event);
        for (int other = 2; other <= 8; other++)
            len += snprintf(text + len, sizeof text - (size_t)len,
                            "{\"event\":\"TEST_END\",\"test_index\":%d,\"exit_status\":\"OK\"}\n", other);
        AUTO(store_close) struct store s = open_store("witness.db");
        struct run_data r =
            must_load(&s, must_ingest(&s, bundle_with_witness(name, "events.jsonl", text), NULL));
        assert_int_equal(r.tests[0].status, *table[i].why ? STATUS_INVALID : STATUS_OK);
        assert_non_null(strstr(r.tests[0].reason, table[i].why));
        assert_int_equal(r.info.counts.ok, *table[i].why ? 7 : 8);
        run_data_release(&r);
    }
}

/* A journal that was cut knows fewer ends than a run that says COMPLETE has tests. */
TEST(what_the_journal_of_a_complete_run_does_not_know_is_invalid)
{
    static const char cut[] = "{\"event\":\"TEST_END\",\"test_index\":1,\"exit_status\":\"OK\"}\n"
                              "{\"event\":\"TEST_END\",\"test_index\":2,\"exit_status\":\"OK\"}\n";
    AUTO(store_close) struct store s = open_store("cut.db");
    AUTO(run_data_release)
    struct run_data r = must_load(&s, must_ingest(&s, bundle_with_witness("cut", "events.jsonl", cut), NULL));
    assert_int_equal(r.info.counts.ok, 2);
    assert_int_equal(r.tests[2].status, STATUS_INVALID);
    assert_non_null(strstr(r.tests[2].reason, "the journal has no end of this test"));
}

TEST(a_record_of_another_place_in_the_job_is_invalid)
{
    static const char dir[] = "place/baseline/ctx_256_run1";
    make_bundle("place", "place");
    json_t *perf = get_json(dir, "perf.json");
    json_object_set_new(perf, "test_index", json_integer(9));
    put_json(dir, "perf.json", perf);
    write_manifest("place", "place");
    AUTO(store_close) struct store s = open_store("place.db");
    AUTO(run_data_release) struct run_data r = must_load(&s, must_ingest(&s, in_scratch("place"), NULL));
    assert_int_equal(r.info.counts.ok, 7);
    assert_non_null(strstr(r.tests[0].reason, "says that it is test 9"));
}

TEST(a_bundle_of_two_runs_is_refused)
{
    make_bundle("two", "two");
    write_manifest("two", "another");
    AUTO(store_close) struct store s = open_store("two.db");
    must_refuse(&s, in_scratch("two"), "is of run \"two\", manifest.json of \"another\"");
}

TEST(samples_go_alone)
{
    AUTO(store_close) struct store s = open_store("samples.db");
    struct err err = {0};
    int64_t first = must_ingest(&s, make_bundle("samples1", "run-1"), NULL), dropped = -1;
    must_ingest(&s, make_bundle("samples2", "run-2"), NULL);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM telemetry"), 16);
    assert_ok(runs_drop_samples(&s, &first, 1, &dropped, &err), &err);
    assert_int_equal(dropped, 8);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM telemetry JOIN test ON test.id = test_id"
                                   " JOIN run ON run.id = test.run_id WHERE run.run_id = 'run-2'"),
                     8);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM telemetry"), 8);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 16);
    assert_ok(runs_drop_samples(&s, &first, 1, &dropped, &err), &err);
    assert_int_equal(dropped, 0);
}

TEST(an_exact_id_is_no_ambiguous_prefix)
{
    AUTO(store_close) struct store s = open_store("exact.db");
    struct err err = {0};
    int64_t key, a = must_ingest(&s, make_bundle("exact1", "run-1"), NULL);
    must_ingest(&s, make_bundle("exact2", "run-12"), NULL);
    assert_ok(store_find_run(&s, "run-1", &key, &err), &err);
    assert_int_equal(key, a);
}

static void must_be_at(struct store *s, const char *name)
{
    char query[2 * FS_PATH_MAX];
    snprintf(query, sizeof query, "SELECT bundle = '%s' FROM run", in_scratch(name));
    assert_int_equal(query_int(s, query), 1);
}

/* The recorded folder is followed once it no longer has the run, by either way of storing. */
TEST(a_bundle_that_moved_is_followed)
{
    AUTO(store_close) struct store s = open_store("moved.db");
    struct err err = {0};
    make_bundle("moved/first", "run-moved");
    make_bundle("moved/second", "run-moved");
    struct ingest_result r = ingested(&s, in_scratch("moved/first"), NULL);
    must_be_at(&s, "moved/first");
    r = ingested(&s, in_scratch("moved/second"), NULL);
    assert_int_equal(r.effect, INGEST_ALREADY);
    assert_string_equal(r.note, "");
    must_be_at(&s, "moved/first");
    assert_ok(fs_rename(in_scratch("moved/first"), in_scratch("moved/third"), &err), &err);
    r = ingested(&s, in_scratch("moved/second"), NULL);
    assert_int_equal(r.effect, INGEST_ALREADY);
    assert_non_null(strstr(r.note, "moved/first no longer has the run"));
    must_be_at(&s, "moved/second");
}

GROUP(scratch_make, scratch_remove);
