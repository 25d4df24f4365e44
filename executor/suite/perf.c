#include "executor/suite/perf.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "executor/bundle/artifact.h"
#include "executor/suite/container.h"
#include "executor/suite/precise.h"
#include "executor/suite/test_group.h"
#include "executor/suite/test_run.h"
#include "executor/telemetry/throttle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { PERF_MAX = 1 << 20 };

static json_t *json_whole(double x)
{
    return isnan(x) ? json_null() : json_integer((json_int_t)x);
}

static double timeval_s(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Adds the members of `more` to obj. Takes more. */
static void merge_object(json_t *obj, json_t *more)
{
    json_object_update(obj, more);
    json_decref(more);
}

static json_t *encode_timings(const struct timings *t)
{
    if (!t || !t->found)
        return json_null();
    json_t *out = json_object();
    for (size_t i = 0; i < t->count; i++) {
        double x = t->item[i].value;
        json_object_set_new(out, t->item[i].name, isfinite(x) ? json_real(x) : json_null());
    }
    if (t->attn_impl[0])
        json_object_set_new(out, "attn_impl", json_string(t->attn_impl));
    return out;
}

static json_t *encode_end(const struct child_result *c)
{
    int status = c->process.wait_status;
    bool ran = c->process.ended && !c->process.exec_errno;
    return json_pack("{s:o, s:o, s:o}", "exit_code",
                     ran && WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(), "signal",
                     ran && WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_integer(0),
                     "wall_time_sec", artifact_number(c->wall_s));
}

static json_t *encode_vram(const struct test_run *r)
{
    const struct sampler *s = &r->watch.sampler;
    bool available = sample_has(&s->before, SAMPLE_VRAM_USED);
    return json_pack("{s:b, s:o, s:o, s:o, s:I, s:I, s:o}", "available", available, "before_bytes",
                     json_whole(s->before.value[SAMPLE_VRAM_USED]), "peak_bytes",
                     json_whole(s->peak[SAMPLE_VRAM_USED]), "after_bytes", json_whole(r->settle.after),
                     "samples", (json_int_t)s->samples, "missed", (json_int_t)s->missed, "max_gap_ms",
                     artifact_number(s->max_gap_s * 1e3));
}

/* Encodes the peaks of the other fields, such as power and temperatures, where they are available. */
static json_t *encode_peaks(const struct sampler *s)
{
    json_t *out = json_object();
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        enum sample_field f = (enum sample_field)i;
        if (f != SAMPLE_RSS && f != SAMPLE_VRAM_USED && !isnan(s->peak[i]))
            json_object_set_new(out, sample_key(f),
                                sample_is_whole_number(f) ? json_whole(s->peak[i])
                                                          : artifact_number(s->peak[i]));
    }
    return out;
}

static json_t *error_text(int number)
{
    return number ? json_string(strerror(number)) : NULL;
}

/* Encodes where the test was to be bound, and which part of that failed. */
static json_t *encode_near(const struct near *n, const struct near_failure *failed)
{
    json_t *out = failed->cpus ? json_object() : json_pack("{s:s}", "cpus", n->text);
    if (failed->cpus || failed->memory)
        json_object_set_new(out, "unbound",
                            json_pack("{s:o*, s:o*}", "cpus", error_text(failed->cpus), "memory",
                                      error_text(failed->memory)));
    return out;
}

static double timing_s(const struct timings *t, const char *name)
{
    const double *value = timings_get(t, name);
    return value && isfinite(*value) && *value >= 0 ? *value : (double)NAN;
}

static json_t *encode_reasons(unsigned reasons)
{
    json_t *out = json_array();
    for (int i = 0; i < THROTTLE_REASONS; i++)
        if (reasons >> i & 1)
            json_array_append_new(out, json_string(throttle_name(i)));
    return out;
}

static json_t *encode_source(enum energy_source from)
{
    switch (from) {
    case ENERGY_ACCUMULATOR:
        return json_string("accumulator");
    case ENERGY_POWER:
        return json_string("power");
    case ENERGY_UNKNOWN:
        return json_null();
    }
    return json_null();
}

/* The reasons are known only if it is known how long they held. */
static json_t *encode_window(const struct activity *a)
{
    return json_pack(
        "{s:{s:s, s:o, s:o, s:I}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s*}",
        "window", "kind", activity_window_name(a->window), "from_s", artifact_number(a->from_s), "to_s",
        artifact_number(a->to_s), "samples", (json_int_t)a->samples, "sclk_mhz", artifact_number(a->sclk_mhz),
        "sclk_p5_mhz", artifact_number(a->sclk_p5_mhz), "sclk_low_mhz", artifact_number(a->sclk_low_mhz),
        "mclk_mhz", artifact_number(a->mclk_mhz), "mclk_p5_mhz", artifact_number(a->mclk_p5_mhz), "power_w",
        artifact_number(a->power_w), "temp_c", artifact_number(a->temp_c), "throttled_s",
        artifact_number(a->throttled_s), "throttle",
        isnan(a->throttled_s) ? json_null() : encode_reasons(a->throttle), "joules",
        artifact_number(a->energy.joules), "joules_from", encode_source(a->energy.from), "neighbours",
        a->neighbours < 0 ? json_null() : json_integer(a->neighbours), "note",
        *a->energy.note ? a->energy.note : NULL);
}

/* Returns how long the program says that it timed; NaN: unknown. */
static double timed_s(const struct timings *t)
{
    double prefill_s = timing_s(t, "prefill_s"), iterations = timing_s(t, "iters");
    double once_s = isnan(prefill_s) ? timing_s(t, "kernel_ms") * 1e-3 : prefill_s;
    return iterations > 1 ? once_s * iterations : once_s;
}

/* Encodes what the card did during the test; NULL if nothing was measured. */
static json_t *encode_activity(const struct activity_log *log, const struct timings *t, double printed_s,
                               double end_s)
{
    struct activity a;
    struct activity_times times = {
        .printed_s = printed_s, .timed_s = timed_s(t), .decode_s = timing_s(t, "decode_s"), .end_s = end_s};
    if (isnan(times.decode_s))
        times.decode_s = 0;
    return activity_measure(log, &times, &a) ? encode_window(&a) : NULL;
}

static json_t *encode_run(const struct suite *s, const struct test_run *r)
{
    const struct child_result *c = &r->child.result;
    const struct sampler *sampler = &r->watch.sampler;
    const struct timings *timings = &r->output.reader.result;
    const struct runlog *log = &r->output.log;
    const struct test_contained *contained = &r->contained;
    char started_at[CLOCK_ISO_LEN + 1];
    double rss = sampler->peak[SAMPLE_RSS];
    double maxrss = (double)c->process.usage.ru_maxrss * 1024;
    double system_s = timeval_s(c->process.usage.ru_stime);
    double user_s = timeval_s(c->process.usage.ru_utime);
    /* What is ended before it has waited for its children does not have their time. */
    if (r->assessment.status != STATUS_OK)
        user_s = fmax(user_s, sampler->tree_cpu_s - system_s);
    clock_iso8601(r->started_real_s, started_at);
    json_t *out = encode_end(c);
    json_t *rest = json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:o}, s:{s:o, s:o}, s:{s:o, s:I}, s:{s:I, s:I}, s:{s:b, s:b, s:i}}",
        "started_at", started_at, "prompt_tokens",
        timings->prompt_tokens >= 0 ? json_integer(timings->prompt_tokens) : json_null(), "vram",
        encode_vram(r), "peaks", encode_peaks(sampler), "rss", "peak_bytes",
        json_whole(isnan(rss) || rss < maxrss ? maxrss : rss), "cpu", "user_s", artifact_number(user_s),
        "system_s", artifact_number(system_s), "sampler", "cpu_s", artifact_number(sampler->cpu_s),
        "interval_ms", (json_int_t)s->job.settings.sample_interval_ms, "log", "bytes", (json_int_t)log->total,
        "dropped_bytes", (json_int_t)runlog_dropped(log), "cleanup", "group_gone", c->group_gone, "vram_back",
        r->settle.back, "leftovers", (int)c->leftovers);
    merge_object(out, rest);
    json_object_set(out, "gpus", r->lane->facts);
    if (r->lane->near.on)
        merge_object(out, encode_near(&r->lane->near, &c->process.unbound));
    json_object_set_new(out, "beside", json_integer((json_int_t)r->lane->beside));
    int compiled = test_caches_count(r);
    if (r->compiled >= 0 && compiled >= r->compiled)
        json_object_set_new(out, "compiled", json_integer(compiled - r->compiled));
    merge_object(out, test_group_encode(s, contained->grouped, &contained->hits));
    json_t *container = container_encode(s, s->job.test[r->index].variant);
    if (container)
        json_object_set_new(out, "container", container);
    if (test_group_isolates(s, r->index))
        json_object_set_new(out, "isolated", json_true());
    if (test_group_isolates(s, r->index) && s->processes.signals_kept)
        json_object_set_new(out, "isolated_signals", json_true());
    if (contained->by_engine)
        json_object_set_new(out, "contained", json_string("container"));
    json_t *activity = encode_activity(&sampler->activity, timings, r->output.printed_s, c->wall_s);
    if (activity)
        json_object_set_new(out, "activity", activity);
    return out;
}

static json_t *encode_not_run(void)
{
    return json_pack("{s:n, s:n, s:n, s:n, s:n}", "exit_code", "signal", "wall_time_sec", "started_at",
                     "prompt_tokens");
}

/* Returns the first GPU that the test ran on, or the node's first if it did not run. Borrowed. */
static json_t *gpu_of(const struct suite *s, const struct test_run *r)
{
    const json_t *own = r ? json_array_get(r->lane->facts, 0) : NULL;
    size_t index = (size_t)json_integer_value(json_object_get(own, "index"));
    return json_array_get(json_object_get(s->node, "gpus"), index);
}

static json_t *encode(const struct suite *s, size_t test, const struct assessment *why,
                      const struct test_run *r)
{
    const struct job_test *t = &s->job.test[test];
    json_t *gpu = gpu_of(s, r);
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s, s:s, s:s, s:f, s:o, s:O, s:o*, s:i}",
                  "schema", PROTO_SCHEMA_PERF, "ticket", s->job.settings.ticket, "run_id", s->job.run_id,
                  "variant", s->job.variant[t->variant].name, "context_len", (json_int_t)t->context,
                  "repetition", (json_int_t)t->repetition, "test_index", (json_int_t)(test + 1), "warmup",
                  (int)t->warmup, "mode", s->job.settings.mode, "exit_status", status_name(why->status),
                  "reason", why->reason, "timeout_s", t->timeout_s, "timings",
                  encode_timings(r ? &r->output.reader.result : NULL), "gpu", gpu ? gpu : json_null(), "host",
                  *suite_host(s) ? json_string(suite_host(s)) : NULL, "attempt", (int)s->test[test].attempts);
    merge_object(out, r ? encode_run(s, r) : encode_not_run());
    return out;
}

int perf_write(struct suite *s, size_t test, const struct assessment *why, const struct test_run *r,
               const char *dir, struct err *err)
{
    return artifact_json_sealed(dir, "perf.json", encode(s, test, why, r), &s->secrets, s->test[test].seal,
                                err);
}

static int read_perf(const char *root, const char *rel, struct buf *out)
{
    char path[FS_PATH_MAX];
    struct err ignored;
    return fs_join(path, NULL, rel, "perf.json") == 0
               ? fs_read_below(root, path, PERF_MAX, out, NULL, &ignored)
               : -1;
}

static bool has_hash(const struct buf *text, const char *sha256)
{
    char hex[SHA256_HEX_LEN + 1];
    sha256_of(text->data, text->len, hex);
    return strcmp(hex, sha256) == 0;
}

bool perf_is_sealed(const char *root, const char *rel, const char *sha256)
{
    AUTO(buf_release) struct buf text = {.max = PERF_MAX};
    return *sha256 && read_perf(root, rel, &text) == 0 && has_hash(&text, sha256);
}

/* Returns the values of the job's own metrics that find() knows, or NULL if it knows none. */
static json_t *own_values(const struct suite *s, perf_find_fn *find, const void *of)
{
    json_t *out = NULL;
    for (size_t i = 0; i < s->job.metrics.count; i++) {
        double value = find(of, s->job.metrics.item[i].name);
        if (!isfinite(value))
            continue;
        if (!out)
            out = json_object();
        json_object_set_new(out, s->job.metrics.item[i].name, json_real(value));
    }
    return out;
}

void perf_take(struct suite *s, size_t test, const struct assessment *a, double wall_s, perf_find_fn *find,
               const void *of)
{
    const struct own_metric *own = own_metrics_primary(&s->job.metrics);
    struct test_state *t = &s->test[test];
    suite_test_result(s, test, a, wall_s, find(of, "prefill_s"));
    t->own = own ? find(of, own->name) : (double)NAN;
    json_decref(t->metrics);
    t->metrics = own_values(s, find, of);
    precise_take(s, test, find(of, "kernel_ms"));
}

static double find_number(const void *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* sha256 NULL: the content does not matter. */
static json_t *load(const char *root, const char *rel, const char *sha256)
{
    AUTO(buf_release) struct buf text = {.max = PERF_MAX};
    if (read_perf(root, rel, &text) != 0 || (sha256 && !has_hash(&text, sha256)))
        return NULL;
    return json_parse(buf_str(&text), text.len, "perf.json", NULL);
}

int perf_load(struct suite *s, size_t test, const char *folder, const char *rel)
{
    struct assessment v = {.status = STATUS_OK};
    json_auto_t *root = load(folder, rel, s->test[test].seal);
    if (strcmp(json_text(root, "run_id"), s->job.run_id) != 0 ||
        !status_from_name(json_text(root, "exit_status"), &v.status) ||
        json_integer_value(json_object_get(root, "test_index")) != (json_int_t)test + 1)
        return 0;
    reason_set(v.reason, "%.500s", json_text(root, "reason"));
    perf_take(s, test, &v, find_number(root, "wall_time_sec"), find_number, json_object_get(root, "timings"));
    return 1;
}

int perf_rewrite(struct suite *s, size_t test, const struct assessment *why, const char *dir, struct err *err)
{
    char rel[FS_PATH_MAX];
    struct test_state *t = &s->test[test];
    suite_test_rel(s, test, rel);
    json_t *root = load(s->dir, rel, t->seal);
    if (!root)
        return perf_write(s, test, why, NULL, dir, err);
    json_object_set_new(root, "exit_status", json_string(status_name(why->status)));
    json_object_set_new(root, "reason", json_string(why->reason));
    return artifact_json_sealed(dir, "perf.json", root, &s->secrets, t->seal, err);
}

static bool tell_difference(const char *name, double now, double was, char *out, size_t cap)
{
    if (isnan(was) || now == was || fabs(now - was) <= 1e-6 * fabs(was))
        return false;
    if (isnan(now))
        snprintf(out, cap, ": %.64s is gone and was %.6g", name, was);
    else
        snprintf(out, cap, ": %.64s is %.6g and was %.6g", name, now, was);
    return true;
}

void perf_difference(const struct suite *s, size_t test, const char *rel, char *out, size_t cap)
{
    const struct test_state *t = &s->test[test];
    json_auto_t *root = load(s->dir, rel, NULL);
    json_t *timings = json_object_get(root, "timings"), *was;
    const char *name;
    *out = '\0';
    if (!root || tell_difference("prefill_s", find_number(timings, "prefill_s"), t->prefill_s, out, cap) ||
        tell_difference("wall_time_sec", find_number(root, "wall_time_sec"), nearbyint(t->wall_s * 1e6) / 1e6,
                        out, cap))
        return;
    json_object_foreach(t->metrics, name, was) if (tell_difference(name, find_number(timings, name),
                                                                   json_number_value(was), out, cap)) return;
}
