/* ingest of the older layout of bundles: what its path, its log and its files say. */
#include "results/query/find_run.h"
#include "tests/unit/results_support.h"

#include <fcntl.h>

TEST(the_older_layout_says_who_it_is_by_its_path)
{
    AUTO(store_close) struct store s = open_store("older-layout.db");
    struct err err = {0};
    put("a/2026-02-12/b3_89_long_ctx/v3/ctx_16384_run0/perf.json",
        "{\"ticket\":\"b3_89\",\"variant\":\"v3\",\"context_len\":16384,\"repetition\":0,\"mode\":\"debug\","
        "\"wall_time_sec\":1,\"exit_status\":\"FAIL\",\"timings\": \n}");
    put("a/2026-02-12/b3_89_long_ctx/v3/ctx_16384_run0/vram_before.json",
        "{\"card0\":{\"VRAM Total Used Memory (B)\":\"1000\"}}");
    put("a/2026-02-12/b3_89_long_ctx/v3/ctx_16384_run0/vram_samples.jsonl",
        "{\"card0\":{\"VRAM Total Used Memory (B)\":\"1000\"}}\n\nrocm-smi: broken\n"
        "{\"card0\":{\"VRAM Total Used Memory (B)\":\"9000\"}}\n");
    struct ingest_result result = ingested(&s, in_scratch("a/2026-02-12/b3_89_long_ctx"), NULL);
    assert_int_equal(result.warnings, 1);
    struct run_data r = must_load(&s, result.key);
    assert_string_equal(r.info.ticket, "b3_89");
    assert_string_equal(r.info.tag, "long_ctx");
    assert_string_equal(r.info.date, "2026-02-12");
    assert_string_equal(r.info.mode, "debug");
    assert_string_equal(r.info.node, "unknown");
    assert_memory_equal(r.info.run_id, "20260212-b3_89_long_ctx-", 24);
    assert_int_equal(r.tests[0].status, STATUS_FAIL);
    assert_near(r.tests[0].used.vram_before, 1000, 0);
    assert_near(r.tests[0].value[METRIC_VRAM_PEAK], 9000, 0);
    assert_int_equal(r.tests[0].samples, 2);
    run_data_release(&r);

    int64_t key;
    assert_ok(store_find_run(&s, in_scratch("a/2026-02-12/b3_89_long_ctx"), &key, &err), &err);
    assert_int_equal(key, result.key);
}

TEST(the_older_layout_tells_more_in_its_log)
{
    AUTO(store_close) struct store s = open_store("log.db");
    put("e/2026-02-12/b3_89/v3/ctx_4096_run0/perf.json",
        "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"wall_time_sec\":40,\"timings\":{\"prefill_s\":18.5}"
        "}");
    put("e/2026-02-12/b3_89/v3/ctx_4096_run0/run.log",
        "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":1,\"run_idx\":0,\"exit_status\":\"OK\"}\n");
    put("e/2026-02-12/b3_89/executor.log",
        "starting\n{not json \"event\"\n"
        "{\"event\":\"SUITE_START\",\"ts\":\"2026-02-12T03:15:00Z\"}\n"
        "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":0,\"exit_status\":\"FAIL\"}\n"
        "[03:20] "
        "{\"event\":\"TEST_END\",\"variant\":\"v2\",\"ctx\":4096,\"run_idx\":0,\"exit_status\":\"TIMEOUT\","
        "\"wall_s\":180.2,\"reason\":\"over 180 s\"}\n"
        "{\"event\":\"TEST_SKIP\",\"variant\":\"v4\",\"ctx\":4096,\"run_idx\":0,\"reason\":\"no build\"}\n"
        "{\"event\":\"TEST_END\",\"variant\":\"../v9\",\"ctx\":4096,\"run_idx\":0}\n"
        "{\"event\":\"TEST_END\",\"variant\":\"v9\",\"ctx\":-1,\"run_idx\":0}\n"
        "{\"event\":\"SUITE_END\",\"ts\":1770867600}\n");
    AUTO(run_data_release)
    struct run_data r = must_load(&s, ingest_fixture(&s, in_scratch("e/2026-02-12/b3_89")));
    assert_int_equal(r.n_tests, 3);
    assert_string_equal(r.info.started_at, "2026-02-12T03:15:00.000Z");
    assert_string_equal(r.info.ended_at, "2026-02-12T03:40:00.000Z");
    assert_near(r.info.wall_s, 1500, 1e-9);
    assert_int_equal(r.info.status, RUN_COMPLETE);
    assert_int_equal(run_data_cell(&r, "v3", 4096)->status, STATUS_OK);
    const struct cell *c = run_data_cell(&r, "v2", 4096);
    assert_int_equal(c->status, STATUS_TIMEOUT);
    assert_string_equal(c->reason, "over 180 s");
    assert_near(r.tests[c->first].value[METRIC_WALL_S], 180.2, 1e-9);
    assert_int_equal(run_data_cell(&r, "v4", 4096)->status, STATUS_SKIPPED);
    run_data_release(&r);
    put("e/2026-02-13/b3_89/v3/ctx_4096_run0/perf.json",
        "{\"ticket\":\"b3_89\",\"exit_status\":\"OK\",\"wall_time_sec\":41,\"timings\":{\"prefill_s\":18.6}"
        "}");
    put("e/2026-02-13/b3_89/logs/events.jsonl", "{\"event\":\"SUITE_START\"}\n");
    r = must_load(&s, ingest_fixture(&s, in_scratch("e/2026-02-13/b3_89")));
    assert_int_equal(r.info.status, RUN_PARTIAL);
}

TEST(the_older_layout_is_refused_when_it_contradicts_itself)
{
    AUTO(store_close) struct store s = open_store("contradiction.db");
    static const struct {
        const char *dir, *file, *text, *says;
    } cases[] = {
        {"b/2026-02-12/x", "v3/ctx_1_run0/perf.json", "{\"ticket\":\"x\",\"variant\":\"v4\"}", "v4"},
        {"c/2026-02-12/x", "v3/ctx_1_run0/perf.json", "{\"ticket\":\"x\",\"context_len\":2}", "context_len"},
        {"d/undated/x", "v3/ctx_1_run0/perf.json", "{\"ticket\":\"x\"}", "date"},
        {"e/2026-02-12/x", "readme.txt", "nothing", "no perf.json"},
        {"f/2026-02-12/x", "v3/ctx_1_run0/perf.json", "{\"ticket\":\"a b\"}", "$.ticket"},
        {"g/2026-02-12/x", "v3/perf.json", "{\"ticket\":\"x\"}", "context"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", cases[i].dir, cases[i].file);
        put(path, cases[i].text);
        must_refuse(&s, in_scratch(cases[i].dir), cases[i].says);
    }
    int before = fcntl(STDIN_FILENO, F_GETFD);
    must_refuse(&s, in_scratch("not/there"), "no such folder");
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), before); /* a source that was not opened closes nothing */
}

GROUP(scratch_make, scratch_remove);
