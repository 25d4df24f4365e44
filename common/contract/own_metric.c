#include "common/contract/own_metric.h"

#include <string.h>

static const double wall_tolerance = 0.02, wall_tolerance_s = 0.05;
static const char *const directions[] = {"less", "more", NULL};

bool own_metric_is_unit(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

const struct key own_metric_keys[] = {
    {KEY_AT(struct own_metric, name), .kind = KEY_NAME, .in = IN_BOTH, .required = true, .most = LIMIT_NAME},
    {KEY_AT(struct own_metric, unit), .kind = KEY_TEXT, .in = IN_BOTH, .most = LIMIT_UNIT, .text = "",
     .accepts = own_metric_is_unit, .expected = "a unit without spaces, such as \"GB/s\""},
    {KEY_AT(struct own_metric, better), .kind = KEY_WORD, .in = IN_BOTH, .required = true,
     .words = directions},
    {KEY_AT(struct own_metric, from), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = 255},
    {KEY_AT(struct own_metric, least), .kind = KEY_NUMBER, .in = IN_BOTH, .most = 1e15},
    {KEY_AT(struct own_metric, primary), .kind = KEY_FLAG, .in = IN_BOTH},
    {.name = NULL},
};

const char *const own_metric_judged[] = {"prefill_s", "kernel_ms", NULL};

bool own_metric_is_judged(const char *name)
{
    size_t i = 0;
    while (own_metric_judged[i] && strcmp(own_metric_judged[i], name) != 0)
        i++;
    return own_metric_judged[i];
}

bool own_metric_is_reserved(const char *name)
{
    /* tests/unit/test_metric.c holds this against results/store/metric.def. */
    static const char *const words[] = {
        "prefill_s", "tok_per_s",     "wall_s",        "model_load_s", "tokenize_s",      "decode_s",
        "kernel_ms", "tflops",        "scratch_bytes", "vgprs",        "vram_peak_bytes", "rss_peak_bytes",
        "attn_impl", "prompt_tokens", "sclk_mhz",      "joules",       "joules_per_token"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

double own_metric_seconds(const char *unit)
{
    static const struct {
        const char *unit;
        double seconds;
    } times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(times[i].unit, unit) == 0)
            return times[i].seconds;
    return 0;
}

bool own_metric_too_long(double seconds, double wall_s)
{
    return seconds > wall_s * (1 + wall_tolerance) + wall_tolerance_s;
}

const struct own_metric *own_metrics_find(const struct own_metrics *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->item[i].name, name) == 0)
            return &m->item[i];
    return NULL;
}

const struct own_metric *own_metrics_primary(const struct own_metrics *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->item[i].primary)
            return &m->item[i];
    return NULL;
}

static int check_against_others(const struct own_metrics *m, const struct own_metric *one,
                                const struct json_at *at, struct err *err)
{
    struct json_at name = json_member(at, "name"), primary = json_member(at, "primary");
    if (own_metric_is_reserved(one->name))
        return json_fail(&name, err, "\"%s\" is built in: use another name", one->name);
    if (own_metrics_find(m, one->name))
        return json_fail(&name, err, "duplicate name \"%s\"", one->name);
    if (one->primary && own_metrics_primary(m))
        return json_fail(&primary, err, "\"%s\" is already the primary metric", own_metrics_primary(m)->name);
    return 0;
}

static int read_one(struct own_metrics *out, const struct json_at *at, enum document in, struct err *err)
{
    struct own_metric one;
    const struct key_table table = {own_metric_keys, &one};
    if (keys_read(at, in, &table, 1, err) != 0 || check_against_others(out, &one, at, err) != 0)
        return -1;
    if (!one.from)
        one.from = one.name;
    out->item[out->count++] = one;
    return 0;
}

int own_metrics_read(struct own_metrics *out, const struct json_at *at, enum document in, struct err *err)
{
    *out = (struct own_metrics){.count = 0};
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || n > LIMIT_METRICS)
        return json_fail(at, err, "expected an array of up to %d metrics", LIMIT_METRICS);
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        struct json_at one = json_element(at, i);
        rc |= read_one(out, &one, in, err);
    }
    return rc;
}
