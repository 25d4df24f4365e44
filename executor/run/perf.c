#include "executor/run/perf.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/run/perf_activity.h"
#include "executor/run/precise.h"

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

static json_t *encode_vram(const struct perf *p)
{
    const struct sampler *s = p->sampler;
    bool available = sample_has(&s->before, SAMPLE_VRAM_USED);
    return json_pack("{s:b, s:o, s:o, s:o, s:I, s:I, s:o}", "available", available, "before_bytes",
                     json_whole(s->before.value[SAMPLE_VRAM_USED]), "peak_bytes",
                     json_whole(s->peak[SAMPLE_VRAM_USED]), "after_bytes", json_whole(p->vram_after),
                     "samples", (json_int_t)s->samples, "missed", (json_int_t)s->missed, "max_gap_ms",
                     artifact_number(s->max_gap_s * 1e3));
}

/* Peaks of the other fields: power, temperatures, ... Absent where unavailable. */
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

static json_t *encode_run(const struct suite *s, const struct perf *p)
{
    const struct child_result *c = p->child;
    char started_at[CLOCK_ISO_LEN + 1];
    double rss = p->sampler->peak[SAMPLE_RSS];
    double maxrss = (double)c->process.usage.ru_maxrss * 1024;
    clock_iso8601(p->started_real_s, started_at);
    json_t *out = encode_end(c);
    json_t *rest = json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:o}, s:{s:o, s:o}, s:{s:o, s:I}, s:{s:I, s:I}, s:{s:b, s:b, s:i}}",
        "started_at", started_at, "prompt_tokens",
        p->timings->prompt_tokens >= 0 ? json_integer(p->timings->prompt_tokens) : json_null(), "vram",
        encode_vram(p), "peaks", encode_peaks(p->sampler), "rss", "peak_bytes",
        json_whole(isnan(rss) || rss < maxrss ? maxrss : rss), "cpu", "user_s",
        artifact_number(timeval_s(c->process.usage.ru_utime)), "system_s",
        artifact_number(timeval_s(c->process.usage.ru_stime)), "sampler", "cpu_s",
        artifact_number(p->sampler->cpu_s), "interval_ms", (json_int_t)s->job.settings.sample_interval_ms,
        "log", "bytes", (json_int_t)p->log->total, "dropped_bytes", (json_int_t)runlog_dropped(p->log),
        "cleanup", "group_gone", c->group_gone, "vram_back", p->vram_back, "leftovers", (int)c->leftovers);
    if (rest)
        merge_object(out, rest);
    json_object_set(out, "gpus", p->lane->facts);
    if (p->lane->near.on)
        json_object_set_new(out, "cpus", json_string(p->lane->near.text));
    json_object_set_new(out, "beside", json_integer((json_int_t)p->lane->beside));
    json_t *activity = perf_activity(&p->sampler->activity, p->timings, p->printed_s, c->wall_s);
    if (activity)
        json_object_set_new(out, "activity", activity);
    return out;
}

static json_t *encode_not_run(void)
{
    return json_pack("{s:n, s:n, s:n, s:n, s:n}", "exit_code", "signal", "wall_time_sec", "started_at",
                     "prompt_tokens");
}

/* The first GPU that the test ran on; of a test that did not run, the node's first. Borrowed. */
static json_t *perf_gpu(const struct suite *s, const struct perf *p)
{
    const json_t *own = p->lane ? json_array_get(p->lane->facts, 0) : NULL;
    size_t index = (size_t)json_integer_value(json_object_get(own, "index"));
    return json_array_get(json_object_get(s->node, "gpus"), index);
}

json_t *perf_encode(const struct suite *s, const struct perf *p)
{
    const struct job_test *t = &s->job.test[p->test];
    json_t *gpu = perf_gpu(s, p);
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s, s:s, s:s, s:f, s:o, s:O, s:o*, s:i}",
                  "schema", PROTO_SCHEMA_PERF, "ticket", s->job.settings.ticket, "run_id", s->job.run_id,
                  "variant", s->job.variant[t->variant].name, "context_len", (json_int_t)t->context,
                  "repetition", (json_int_t)t->repetition, "test_index", (json_int_t)(p->test + 1), "warmup",
                  (int)t->warmup, "mode", s->job.settings.mode, "exit_status",
                  status_name(p->assessment->status), "reason", p->assessment->reason, "timeout_s",
                  t->timeout_s, "timings", encode_timings(p->timings), "gpu", gpu ? gpu : json_null(), "host",
                  *suite_host(s) ? json_string(suite_host(s)) : NULL, "attempt", (int)p->attempt);
    if (out)
        merge_object(out, p->child ? encode_run(s, p) : encode_not_run());
    return out;
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

int perf_load(struct suite *s, size_t test, const char *dir)
{
    char path[FS_PATH_MAX];
    struct assessment v = {.status = STATUS_OK};
    json_t *root = fs_join(path, NULL, dir, "perf.json") == 0 && fs_exists(path)
                       ? json_load(path, PERF_MAX, NULL)
                       : NULL;
    const char *run_id = json_string_value(json_object_get(root, "run_id"));
    const char *status = json_string_value(json_object_get(root, "exit_status"));
    const char *reason = json_string_value(json_object_get(root, "reason"));
    const json_t *timings = json_object_get(root, "timings");
    const struct own_metric *own = own_metrics_primary(&s->job.metrics);
    bool final = run_id && strcmp(run_id, s->job.run_id) == 0 && status &&
                 status_from_name(status, &v.status) &&
                 json_integer_value(json_object_get(root, "test_index")) == (json_int_t)test + 1;
    if (final) {
        reason_set(v.reason, "%.500s", reason ? reason : "");
        suite_test_result(s, test, &v, number_or_nan(json_object_get(root, "wall_time_sec")),
                          number_or_nan(json_object_get(timings, "prefill_s")));
        s->test[test].own = own ? number_or_nan(json_object_get(timings, own->name)) : (double)NAN;
        const struct precise_times times = {.own = s->test[test].own,
                                            .prefill_s = s->test[test].prefill_s,
                                            .kernel_ms = number_or_nan(json_object_get(timings, "kernel_ms")),
                                            .wall_s = s->test[test].wall_s};
        precise_take(s, test, &times);
    }
    json_decref(root);
    return final;
}
