/* results_support: shared by the tests of results/: a store in the temporary folder, runs made in memory, and
 * bundles as the executor writes them, with a manifest. Everything is inline, as in support.h.
 */
#pragma once

#include "tests/unit/support.h"

#include "common/base/json.h"
#include "common/base/sha256.h"
#include "results/ingest/draft/draft.h"
#include "results/ingest/ingest.h"
#include "results/store/run_data.h"
#include "results/store/run_load.h"
#include "results/store/when.h"

#include <math.h>

#define NODE "192.0.2.10"

static inline struct store open_store(const char *name)
{
    struct err err = {0};
    struct store s;
    assert_ok(store_open(&s, in_scratch(name), STORE_WRITE, &err), &err);
    return s;
}

/* The only value of a query without parameters, as an integer. */
static inline int64_t query_int(struct store *s, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(s->db));
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return v;
}

static inline struct ingest_result ingested(struct store *s, const char *dir,
                                            const struct ingest_options *options)
{
    struct err err = {0};
    struct ingest_result result;
    assert_ok(ingest_bundle(s, dir, options, &result, &err), &err);
    return result;
}

static inline int64_t must_ingest(struct store *s, const char *dir, const struct ingest_options *options)
{
    return ingested(s, dir, options).key;
}

/* Asserts that the folder is refused as bad input with a message that has all of the words. */
#define must_refuse(s, dir, ...)                                                                             \
    do {                                                                                                     \
        struct err refused_ = {0};                                                                           \
        struct ingest_result none_;                                                                          \
        assert_err(ingest_bundle((s), (dir), NULL, &none_, &refused_), &refused_, ERR_INPUT, __VA_ARGS__);   \
    } while (0)

static inline int64_t ingest_fixture(struct store *s, const char *dir)
{
    const struct ingest_options options = {.node = NODE};
    return must_ingest(s, dir, &options);
}

static inline struct run_data must_load(struct store *s, int64_t key)
{
    struct err err = {0};
    struct run_data r;
    assert_ok(run_data_load(s, key, &r, &err), &err);
    return r;
}

/* A draft of one night of the plan "demo"; night n is the n-th day of a run of days. */
static inline void draft_night(struct draft *d, int night)
{
    draft_init(d);
    struct run_info *r = &d->info;
    snprintf(r->run_id, sizeof r->run_id, "night-%04d", night);
    snprintf(r->ticket, sizeof r->ticket, "demo");
    char day[CLOCK_ISO_LEN + 1];
    when_format(when_midnight("2025-01-01") + (int64_t)night * 86400000, day);
    memcpy(r->date, day, 10);
    snprintf(r->node, sizeof r->node, NODE);
    snprintf(r->mode, sizeof r->mode, "perf");
    snprintf(r->origin, sizeof r->origin, "bundle");
    sha256_of(r->run_id, strlen(r->run_id), r->content_sha256);
}

/* The same in the room of the draft before it, which a run was copied from: it is that of the largest plan,
 * and takes longer to clear than to fill. At first, all of *d is 0. */
static inline void draft_next_night(struct draft *d, int night)
{
    struct run_variant *variants = d->variants;
    struct draft_test *tests = d->tests;
    size_t cap_variants = d->cap_variants, cap_tests = d->cap_tests;
    json_decref(d->places);
    draft_night(d, night);
    d->variants = variants;
    d->tests = tests;
    d->cap_variants = cap_variants;
    d->cap_tests = cap_tests;
}

/* One OK repetition. The variant is added when new. */
static inline struct run_test *draft_shot(struct draft *d, const char *variant, int context, int repetition,
                                          double prefill_s)
{
    struct err err = {0};
    size_t v = draft_variant(d, variant);
    if (v == d->n_variants)
        assert_non_null(draft_add_variant(d, variant, &err));
    struct draft_test *t = draft_add_test(d, &err);
    assert_non_null(t);
    t->t.variant = v;
    t->t.context = context;
    t->t.repetition = repetition;
    t->t.value[METRIC_PREFILL_S] = prefill_s;
    t->t.value[METRIC_WALL_S] = prefill_s + 1;
    return &t->t;
}

static inline int64_t must_store(struct store *s, struct draft *d)
{
    struct err err = {0};
    struct ingest_result result;
    assert_ok(draft_finish(d, &err), &err);
    assert_ok(ingest_draft(s, d, &result, &err), &err);
    draft_release(d);
    return result.key;
}

/* A run in memory only: what compare and scaling need. */
static inline struct run_data run_copied_from(struct draft *d)
{
    struct err err = {0};
    struct run_data r = {0};
    assert_ok(draft_finish(d, &err), &err);
    r.info = d->info;
    r.n_variants = d->n_variants;
    r.n_tests = d->n_tests;
    r.variants = malloc((d->n_variants + 1) * sizeof *r.variants);
    r.tests = malloc((d->n_tests + 1) * sizeof *r.tests);
    for (size_t i = 0; i < d->n_variants; i++)
        r.variants[i] = d->variants[i];
    for (size_t i = 0; i < d->n_tests; i++) {
        r.tests[i] = d->tests[i].t;
        metric_derive(r.tests[i].value, r.tests[i].context, run_test_has_tokens(&r.tests[i]));
        r.tests[i].value[METRIC_SCRATCH_BYTES] = r.variants[r.tests[i].variant].value[METRIC_SCRATCH_BYTES];
    }
    run_data_make_cells(&r);
    return r;
}

static inline struct run_data run_of_draft(struct draft *d)
{
    struct run_data r = run_copied_from(d);
    draft_release(d);
    return r;
}

static inline int add_to_manifest(const char *rel, const char *full, void *arg, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t size;
    if (strcmp(rel, "manifest.json") == 0)
        return 0;
    if (sha256_of_file(full, 1 << 26, hex, &size, err) != 0)
        return -1;
    json_array_append_new(arg,
                          json_pack("{s:s, s:I, s:s}", "path", rel, "size", (json_int_t)size, "sha256", hex));
    return 0;
}

/* Closes the bundle `name` of scratch. */
static inline void write_manifest(const char *name, const char *run_id)
{
    struct err err = {0};
    char path[FS_PATH_MAX];
    json_t *files = json_array();
    assert_ok(fs_walk(in_scratch(name), false, add_to_manifest, files, &err), &err);
    json_t *manifest =
        json_pack("{s:s, s:s, s:o}", "schema", PROTO_SCHEMA_MANIFEST, "run_id", run_id, "files", files);
    snprintf(path, sizeof path, "%s/manifest.json", in_scratch(name));
    assert_ok(json_save(path, manifest, &err), &err);
    json_decref(manifest);
}

static inline void put_json(const char *dir, const char *name, json_t *value)
{
    char path[512];
    char *text = json_dumps(value, JSON_INDENT(2));
    snprintf(path, sizeof path, "%s/%s", dir, name);
    put(path, text);
    free(text);
    json_decref(value);
}

/* A file of a bundle, to be changed and put back with put_json(). */
static inline json_t *get_json(const char *dir, const char *name)
{
    char path[512];
    struct err err = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    json_t *value = json_load(in_scratch(path), LIMIT_JSON_BYTES, &err);
    if (!value)
        fail_msg("%s", err.msg);
    return value;
}

/* A complete bundle of the variants baseline and v3 at contexts 256 and 512, two repetitions; v3 is faster.
 */
static inline const char *make_bundle(const char *name, const char *run_id)
{
    static const char *const variants[] = {"baseline", "v3"};
    static const int contexts[] = {256, 512};
    json_t *tests = json_array();
    int index = 0;
    for (size_t v = 0; v < 2; v++)
        for (size_t c = 0; c < 2; c++)
            for (int i = 1; i <= 2; i++) {
                char dir[256];
                double prefill = contexts[c] / 256.0 * (v ? 0.5 : 1.0) + 0.01 * i;
                snprintf(dir, sizeof dir, "%s/%s/ctx_%d_run%d", name, variants[v], contexts[c], i);
                index++;
                json_array_append_new(tests, json_pack("{s:i, s:s, s:i, s:i, s:f, s:b}", "index", index,
                                                       "variant", variants[v], "context", contexts[c],
                                                       "repetition", i, "timeout_s", 60.0, "warmup", 0));
                put_json(
                    dir, "perf.json",
                    json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:s, s:s, s:s, s:i, s:n, s:f, s:f, "
                              "s:s, s:s,"
                              " s:i, s:{s:f, s:f, s:f, s:f, s:s, s:f}, s:{s:b, s:I, s:I, s:I, s:i, s:i, s:f},"
                              " s:{s:I}, s:{s:f, s:f}}",
                              "schema", PROTO_SCHEMA_PERF, "ticket", "demo", "run_id", run_id, "variant",
                              variants[v], "context_len", contexts[c], "repetition", i, "test_index", index,
                              "warmup", 0, "mode", "perf", "exit_status", "OK", "reason", "", "exit_code", 0,
                              "signal", "wall_time_sec", prefill + 0.5, "timeout_s", 60.0, "host", "n1",
                              "started_at", "2026-02-14T03:15:09.250Z", "prompt_tokens", contexts[c],
                              "timings", "model_load_s", 0.25, "tokenize_s", 0.001, "prefill_s", prefill,
                              "decode_s", 0.01, "attn_impl", v ? "v3_q_lds" : "flash_v2_naive", "checksum",
                              12.5, "vram", "available", 1, "before_bytes", (json_int_t)1 << 30, "peak_bytes",
                              (json_int_t)3 << 30, "after_bytes", (json_int_t)1 << 30, "samples", 3, "missed",
                              0, "max_gap_ms", 101.5, "rss", "peak_bytes", (json_int_t)50 << 20, "cpu",
                              "user_s", 1.5, "system_s", 0.25));
                snprintf(dir, sizeof dir, "%s/%s/ctx_%d_run%d/vram_samples.jsonl", name, variants[v],
                         contexts[c], i);
                put(dir, "{\"t\":0.1,\"rss\":1048576,\"vram_used\":1073741824}\n"
                         "{\"t\":0.2,\"rss\":2097152,\"vram_used\":3221225472}\n"
                         "{\"t\":0.3,\"rss\":2097152}\n");
            }
    put_json(name, "job.json",
             json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s}, s:{s:s, s:s}, s:[s],"
                       " s:[{s:s, s:s, s:{s:s}}, {s:s, s:s}], s:o}",
                       "schema", PROTO_SCHEMA_JOB, "run_id", run_id, "ticket", "demo", "tag", "", "date",
                       "2026-02-14", "mode", "perf", "plan_sha256", "", "node", NODE, "source", "sha256", "",
                       "env", "HIP_LAUNCH_BLOCKING", "1", "TOKEN", "hunter2", "secrets", "TOKEN", "variants",
                       "name", "baseline", "attn_impl", "flash_v2_naive", "env", "X", "y", "name", "v3",
                       "attn_impl", "v3_q_lds", "tests", tests));
    put_json(name, "plan.json", json_pack("{s:s, s:s}", "schema", PROTO_SCHEMA_PLAN, "ticket", "demo"));
    put_json(name, "node.json",
             json_pack("{s:s, s:s, s:s, s:I, s:[{s:s, s:s}], s:[{s:i, s:s, s:I, s:I}], s:s}", "schema",
                       PROTO_SCHEMA_NODE, "hostname", "node-a", "driver", "6.8.5", "disk_free_bytes",
                       (json_int_t)123456, "compilers", "name", "hipcc", "version", "6.2.0", "gpus", "index",
                       0, "name", "MI300X", "vram_total_bytes", (json_int_t)192 << 30, "vram_used_bytes",
                       (json_int_t)77, "time", "2026-02-14T03:15:00Z"));
    put_json(name, "summary.json",
             json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:[{s:s, s:s, s:f, s:b}, {s:s, s:s, s:f, s:b}]}",
                       "schema", PROTO_SCHEMA_SUMMARY, "run_id", run_id, "status", "COMPLETE", "started_at",
                       "2026-02-14T03:15:00.000Z", "ended_at", "2026-02-14T03:15:30.000Z", "wall_s", 30.0,
                       "variants", "name", "baseline", "status", "OK", "build_wall_s", 2.5, "build_cached", 0,
                       "name", "v3", "status", "OK", "build_wall_s", 0.0, "build_cached", 1));
    write_manifest(name, run_id);
    return in_scratch(name);
}
