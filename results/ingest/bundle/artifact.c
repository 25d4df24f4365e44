#include "results/ingest/bundle/artifact.h"
#include "common/base/text.h"
#include "common/base/word.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double seconds_max = 1e9, bytes_max = 0x1p60;

static bool given(const struct json_at *obj, const char *key)
{
    const json_t *v = json_object_get(obj->value, key);
    return v && !json_is_null(v);
}

int artifact_hash(const char *rel, const char *full, size_t max, struct sha256 *h, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    if (sha256_of_file(full, max, hex, NULL, err) != 0)
        return -1;
    sha256_add(h, rel, strlen(rel) + 1);
    sha256_add(h, hex, sizeof hex);
    return 0;
}

int artifact_num(const struct json_at *obj, const char *key, double lo, double hi, double *out,
                 struct err *err)
{
    *out = NAN;
    return given(obj, key) ? json_get_num(obj, key, lo, hi, out, err) : 0;
}

int artifact_int(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                 struct err *err)
{
    *out = RUN_UNKNOWN;
    return given(obj, key) ? json_get_int(obj, key, lo, hi, out, err) : 0;
}

int artifact_text(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err)
{
    const char *text = "";
    if (given(obj, key) && json_get_str(obj, key, &text, err) != 0)
        return -1;
    if (strlen(text) >= size) {
        struct json_at at = json_member(obj, key);
        return json_fail(&at, err, "longer than %zu bytes", size - 1);
    }
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

int artifact_name(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err)
{
    if (artifact_text(obj, key, out, size, err) != 0)
        return -1;
    if (text_is_name(out))
        return 0;
    struct json_at at = json_member(obj, key);
    return json_fail(&at, err, "expected a name of letters, digits, '.', '_' and '-', at most %d",
                     LIMIT_NAME);
}

int artifact_sha256(const struct json_at *obj, const char *key, char *out, struct err *err)
{
    if (artifact_text(obj, key, out, SHA256_HEX_LEN + 1, err) != 0)
        return -1;
    if (!*out || sha256_is_hex(out))
        return 0;
    struct json_at at = json_member(obj, key);
    return json_fail(&at, err, "expected %d hex digits", SHA256_HEX_LEN);
}

int artifact_cut(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err)
{
    const char *text = "";
    if (given(obj, key) && json_get_str(obj, key, &text, err) != 0)
        return -1;
    size_t n = strlen(text);
    if (n >= size) // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): size is an array's
        for (n = size - 1; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    memcpy(out, text, n);
    out[n] = '\0';
    return 0;
}

/* Metrics that runs define are stored as numbers of the workload's own, whatever this process has loaded. */
static bool timing_metric(const char *key, enum metric *out)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const char *timing = metric_info((enum metric)m)->timing;
        if (timing && strcmp(timing, key) == 0) {
            *out = (enum metric)m;
            return true;
        }
    }
    return false;
}

static int take_timing(struct draft *d, struct draft_test *t, const struct json_at *timings, const char *key,
                       const json_t *value, struct err *err)
{
    enum metric m;
    if (strcmp(key, "attn_impl") == 0)
        return artifact_cut(timings, key, t->t.attn_impl, sizeof t->t.attn_impl, err);
    double v = json_number_value(value);
    if (!json_is_number(value) || !isfinite(v)) {
        if (!json_is_null(value))
            draft_warn(d, "%s: %s.%.40s: not a number, ignored", timings->file, timings->path, key);
        return 0;
    }
    if (timing_metric(key, &m))
        t->t.value[m] = v >= 0 ? v : NAN;
    else if (t->n_extras < DRAFT_EXTRAS_MAX && text_is_name(key))
        return draft_add_extra(t, key, v, err);
    else
        draft_warn(d, "%s: %s: too many extra numbers, or an invalid name; ignored", timings->file,
                   timings->path);
    return 0;
}

static int take_timings(const struct json_at *perf, struct draft *d, struct draft_test *t, struct err *err)
{
    struct json_at timings = json_member(perf, "timings");
    json_t *members = json_object_get(perf->value, "timings");
    if (!given(perf, "timings"))
        return 0;
    if (!json_is_object(timings.value))
        return json_fail(&timings, err, "expected an object");
    const char *key;
    json_t *value;
    json_object_foreach(members, key, value)
    {
        if (take_timing(d, t, &timings, key, value, err) != 0)
            return -1;
    }
    return 0;
}

/* Whether perf.json has the object, without "available": false. */
static int is_available(const struct json_at *perf, const char *key, bool *out, struct err *err)
{
    struct json_at object = json_member(perf, key);
    *out = given(perf, key);
    return *out ? json_get_bool_def(&object, "available", out, err) : 0;
}

/* A metric is a key ("wall_time_sec") or a member of an object ("vram.peak_bytes"). */
static int take_metric(const struct json_at *perf, const struct metric_info *info, double *out,
                       struct err *err)
{
    const char *dot = strchr(info->artifact, '.');
    char object[32];
    bool available;
    if (!dot)
        return artifact_num(perf, info->artifact, 0, info->most, out, err);
    snprintf(object, sizeof object, "%.*s", (int)(dot - info->artifact), info->artifact);
    struct json_at at = json_member(perf, object);
    if (is_available(perf, object, &available, err) != 0)
        return -1;
    return available ? artifact_num(&at, dot + 1, 0, info->most, out, err) : 0;
}

static int take_metrics(const struct json_at *perf, struct run_test *t, struct err *err)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->kind == METRIC_OF_TEST && info->artifact && take_metric(perf, info, &t->value[m], err) != 0)
            return -1;
    }
    return 0;
}

static int take_memory(const struct json_at *perf, struct run_test *t, struct err *err)
{
    struct json_at vram = json_member(perf, "vram"), cpu = json_member(perf, "cpu");
    int64_t samples = RUN_UNKNOWN;
    bool available;
    if (is_available(perf, "vram", &available, err) != 0 ||
        (given(perf, "vram") && artifact_int(&vram, "samples", 0, INT32_MAX, &samples, err) != 0))
        return -1;
    t->samples = (int)samples;
    if (available && (artifact_num(&vram, "before_bytes", 0, bytes_max, &t->used.vram_before, err) != 0 ||
                      artifact_num(&vram, "after_bytes", 0, bytes_max, &t->used.vram_after, err) != 0 ||
                      artifact_num(&vram, "max_gap_ms", 0, 1e12, &t->used.vram_max_gap_ms, err) != 0))
        return -1;
    if (given(perf, "cpu") &&
        (artifact_num(&cpu, "user_s", 0, seconds_max, &t->used.cpu_user_s, err) != 0 ||
         artifact_num(&cpu, "system_s", 0, seconds_max, &t->used.cpu_system_s, err) != 0))
        return -1;
    return 0;
}

static int take_status(const struct json_at *perf, struct run_test *t, struct err *err)
{
    const char *name = status_name(STATUS_OK);
    char reason[RUN_REASON_MAX] = "";
    if (json_get_str_def(perf, "exit_status", &name, err) != 0)
        return -1;
    if (!status_from_name(name, &t->status)) {
        struct json_at at = json_member(perf, "exit_status");
        return json_fail(&at, err, "unknown status \"%.40s\"", name);
    }
    if (artifact_cut(perf, "reason", reason, sizeof reason, err) != 0)
        return -1;
    t->reason = word(reason);
    return 0;
}

int artifact_perf(const struct json_at *perf, struct draft *d, struct draft_test *t, struct err *err)
{
    struct run_test *r = &t->t;
    int64_t index, code, signal;
    bool warmup = false;
    if (take_status(perf, r, err) != 0 || take_metrics(perf, r, err) != 0 ||
        artifact_num(perf, "timeout_s", 0, seconds_max, &r->timeout_s, err) != 0 ||
        artifact_text(perf, "started_at", r->started_at, sizeof r->started_at, err) != 0 ||
        artifact_int(perf, "prompt_tokens", 0, INT64_MAX, &r->prompt_tokens, err) != 0 ||
        artifact_int(perf, "test_index", 1, LIMIT_TESTS, &index, err) != 0 ||
        artifact_int(perf, "exit_code", 0, 255, &code, err) != 0 ||
        artifact_int(perf, "signal", 0, 128, &signal, err) != 0 ||
        json_get_bool_def(perf, "warmup", &warmup, err) != 0 || take_timings(perf, d, t, err) != 0)
        return -1;
    r->index = (int)index;
    r->exit_code = (int)code;
    r->signal = (int)signal;
    r->warmup = warmup;
    return take_memory(perf, r, err);
}

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* An implausible number is left out: a finished run is not lost for it. */
static int take_resources(const struct json_at *at, struct draft *d, struct run_variant *v, struct err *err)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        double value;
        if (info->kind != METRIC_OF_BUILD)
            continue;
        if (artifact_num(at, info->artifact, 0, info->most, &value, err) == 0)
            v->value[m] = larger(v->value[m], value);
        else if (draft_leave_out(d, err) != 0)
            return -1;
    }
    return 0;
}

int artifact_resources(const struct json_at *resources, size_t variant, struct draft *d, struct err *err)
{
    struct run_variant *v = &d->variants[variant];
    struct json_at kernels = json_member(resources, "kernels");
    if (take_resources(resources, d, v, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(kernels.value); i++) {
        struct json_at k = json_element(&kernels, i);
        if (take_resources(&k, d, v, err) != 0)
            return -1;
    }
    return 0;
}
