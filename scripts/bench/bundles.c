/* bench/bundles: writes closed bundles of a plan's nightly runs like the executor's, for
 * scripts/bench/results.
 *
 *   bundles DIR FIRST COUNT TESTS SAMPLES    DIR/night_FIRST ..., TESTS tests each, SAMPLES samples per test
 *
 * Night n is the n-th day after 2020-01-01; a cell's time varies by 1 % between nights. The same
 * arguments give the same bytes.
 */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "results/stats/stats.h"
#include "results/store/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {"baseline", "v3", "v4", "v5"};
enum { VARIANTS = 4, DAY_MS = 86400000 };

/* The run that is being written. */
struct night {
    char dir[FS_PATH_MAX];
    char run_id[64];
    char day[CLOCK_ISO_LEN + 1];
    char date[11];
    int tests, samples;
    json_t *files; /* of the manifest */
    struct stats_rng rng;
};

static int die(const struct err *err)
{
    fprintf(stderr, "bundles: %s\n", err->msg);
    return 1;
}

/* Writes a file of the bundle and records it for the manifest. */
static int add_file(struct night *n, const char *rel, const char *data, size_t len, struct err *err)
{
    char path[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    if (fs_join(path, err, n->dir, rel) != 0)
        return -1;
    /* Not fs_write_file(): a benchmark's files need not survive a power failure. */
    FILE *f = fopen(path, "w");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f) != 0)
        return err_set(err, ERR_STORAGE, "%s: cannot write", path);
    sha256_of(data, len, hex);
    return json_array_append_new(
        n->files, json_pack("{s:s, s:I, s:s}", "path", rel, "size", (json_int_t)len, "sha256", hex));
}

static int add_json(struct night *n, const char *rel, json_t *value, struct err *err)
{
    char *text = json_dumps(value, JSON_COMPACT);
    int rc = add_file(n, rel, text, strlen(text), err);
    free(text);
    json_decref(value);
    return rc;
}

static double normal(struct night *n, double mean, double relative)
{
    return mean * (1 + relative * stats_rng_normal(&n->rng));
}

static double rounded(double v, double step)
{
    return (double)(long long)(v / step + 0.5) * step;
}

/* Memory grows while the model loads and is then constant; the sensors are noisy. */
static int add_samples(struct night *n, const char *folder, double seconds, struct err *err)
{
    char rel[128], line[512];
    struct buf text;
    buf_init(&text, 1 << 30);
    json_int_t vram = 1 << 30, rss = 1 << 28;
    for (int i = 0; i < n->samples; i++) {
        if (i < n->samples / 4) {
            vram += (json_int_t)stats_rng_below(&n->rng, 64) << 21;
            rss += (json_int_t)stats_rng_below(&n->rng, 4096) << 12;
        }
        json_t *o = json_pack(
            "{s:f, s:I, s:f, s:I, s:I, s:I, s:I}", "t",
            rounded(seconds * (i + 1) / n->samples + 0.001 * (double)stats_rng_below(&n->rng, 3), 0.001),
            "rss", rss, "cpu", rounded(normal(n, 99.5, 0.01), 0.1), "vram_used", vram, "gpu_busy",
            (json_int_t)(90 + stats_rng_below(&n->rng, 11)), "power_w", (json_int_t)normal(n, 640, 0.05),
            "temp_c", (json_int_t)(70 + stats_rng_below(&n->rng, 4)));
        size_t len = json_dumpb(o, line, sizeof line - 1, JSON_COMPACT | JSON_REAL_PRECISION(10));
        line[len] = '\n';
        buf_add(&text, line, len + 1);
        json_decref(o);
    }
    snprintf(rel, sizeof rel, "%s/vram_samples.jsonl", folder);
    int rc = add_file(n, rel, buf_str(&text), text.len, err);
    buf_release(&text);
    return rc;
}

static int context_of(int test)
{
    return 1024 * (1 + test / VARIANTS);
}

static int add_test(struct night *n, int test, json_t *listed, struct err *err)
{
    static const char log[] = "[PERF_TIMING] {...}\n";
    char folder[96], rel[128], path[FS_PATH_MAX];
    const char *variant = variants[test % VARIANTS];
    int context = context_of(test);
    double prefill = normal(n, 5.6e-6 * context * context / 1024 * (1 + test % VARIANTS), 0.01);
    snprintf(folder, sizeof folder, "%s/ctx_%d_run1", variant, context);
    if (fs_join(path, err, n->dir, folder) != 0 || fs_mkdir_p(path, 0700, err) != 0)
        return -1;
    json_array_append_new(listed,
                          json_pack("{s:i, s:s, s:i, s:i, s:f, s:b}", "index", test + 1, "variant", variant,
                                    "context", context, "repetition", 1, "timeout_s", 180.0, "warmup", 0));
    snprintf(rel, sizeof rel, "%s/perf.json", folder);
    json_t *perf =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:s, s:s, s:s, s:f, s:{s:f, s:f, s:f, s:f, s:s}, "
                  "s:i, s:i, s:i,"
                  " s:f, s:s, s:i, s:{s:b, s:I, s:I, s:I, s:i, s:i, s:f}, s:{s:I}, s:{s:f, s:f}, s:{s:f, "
                  "s:i}, s:{s:i, s:i},"
                  " s:{s:b, s:b, s:i}}",
                  "schema", PROTO_SCHEMA_PERF, "ticket", "bench", "run_id", n->run_id, "variant", variant,
                  "context_len", context, "repetition", 1, "test_index", test + 1, "warmup", 0, "mode",
                  "perf", "exit_status", "OK", "reason", "", "timeout_s", 180.0, "timings", "model_load_s",
                  normal(n, 21.4, 0.01), "tokenize_s", normal(n, 2e-5, 0.1), "prefill_s", prefill, "decode_s",
                  normal(n, 1.6e-7, 0.1), "attn_impl", test % VARIANTS ? "v3_q_lds" : "flash_v2_naive",
                  "attempt", 1, "exit_code", 0, "signal", 0, "wall_time_sec", rounded(prefill + 22, 1e-6),
                  "started_at", n->day, "prompt_tokens", context, "vram", "available", 1, "before_bytes",
                  (json_int_t)1 << 30, "peak_bytes", (json_int_t)15 << 30, "after_bytes", (json_int_t)1 << 30,
                  "samples", n->samples, "missed", 0, "max_gap_ms", 101.25, "rss", "peak_bytes",
                  (json_int_t)7 << 30, "cpu", "user_s", rounded(prefill + 20, 1e-6), "system_s", 1.5,
                  "sampler", "cpu_s", 0.01, "interval_ms", 100, "log", "bytes", (int)sizeof log - 1,
                  "dropped_bytes", 0, "cleanup", "group_gone", 1, "vram_back", 1, "leftovers", 0);
    if (!perf || add_json(n, rel, perf, err) != 0)
        return -1;
    snprintf(rel, sizeof rel, "%s/run.log", folder);
    if (add_file(n, rel, log, sizeof log - 1, err) != 0)
        return -1;
    return n->samples ? add_samples(n, folder, prefill + 22, err) : 0;
}

static int add_run_files(struct night *n, json_t *tests, struct err *err)
{
    json_t *named = json_array(), *states = json_array();
    for (int v = 0; v < VARIANTS; v++) {
        json_array_append_new(named, json_pack("{s:s}", "name", variants[v]));
        json_array_append_new(states, json_pack("{s:s, s:s}", "name", variants[v], "status", "OK"));
    }
    return add_json(n, "job.json",
                    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "schema", PROTO_SCHEMA_JOB,
                              "run_id", n->run_id, "ticket", "bench", "tag", "", "date", n->date, "mode",
                              "perf", "node", "mi300x", "variants", named, "tests", tests),
                    err) ||
                   add_json(n, "plan.json",
                            json_pack("{s:s, s:s}", "schema", PROTO_SCHEMA_PLAN, "ticket", "bench"), err) ||
                   add_json(n, "node.json",
                            json_pack("{s:s, s:s, s:s, s:[{s:i, s:s}]}", "schema", PROTO_SCHEMA_NODE,
                                      "hostname", "node", "rocm", "6.2.0", "gpus", "index", 0, "name",
                                      "MI300X"),
                            err) ||
                   add_json(n, "summary.json",
                            json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o}", "schema", PROTO_SCHEMA_SUMMARY,
                                      "run_id", n->run_id, "status", "COMPLETE", "started_at", n->day,
                                      "ended_at", n->day, "wall_s", 3600.0, "variants", states),
                            err)
               ? -1
               : 0;
}

static int write_night(const char *dir, int number, int tests, int samples, struct err *err)
{
    struct night n = {.tests = tests, .samples = samples, .files = json_array()};
    char name[32];
    snprintf(n.run_id, sizeof n.run_id, "bench-%06d", number);
    snprintf(name, sizeof name, "night_%06d", number);
    when_format(when_midnight("2020-01-01") + (int64_t)number * DAY_MS, n.day);
    snprintf(n.date, sizeof n.date, "%.10s", n.day);
    stats_rng_seed(&n.rng, (uint64_t)number + 1);
    json_t *listed = json_array();
    int rc = fs_join(n.dir, err, dir, name) || fs_mkdir_p(n.dir, 0700, err) ? -1 : 0;
    for (int i = 0; rc == 0 && i < tests; i++)
        rc = add_test(&n, i, listed, err);
    if (rc == 0)
        rc = add_run_files(&n, json_incref(listed), err);
    if (rc == 0)
        rc = add_json(&n, "manifest.json",
                      json_pack("{s:s, s:s, s:O}", "schema", PROTO_SCHEMA_MANIFEST, "run_id", n.run_id,
                                "files", n.files),
                      err);
    json_decref(listed);
    json_decref(n.files);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    if (argc != 6) {
        fputs("usage: bundles DIR FIRST COUNT TESTS SAMPLES\n", stderr);
        return 2;
    }
    int first = atoi(argv[2]), count = atoi(argv[3]);
    for (int i = first; i < first + count; i++)
        if (write_night(argv[1], i, atoi(argv[4]), atoi(argv[5]), &err) != 0)
            return die(&err);
    return 0;
}
