#include "common/contract/counters.h"

#include "common/contract/proto.h"

#include <string.h>

static const char *const tools[] = {"auto", "ncu", "rocprofv3", NULL};
static const char *const whens[] = {"confirmed", "always", "never", NULL};
static const char *const presets[] = {"memory", "matrix", "occupancy", NULL};

enum { PRESETS = 3, PRESET_NAMES = 6 };

/* These are so few that a profiler needs one pass over each kernel, or hardly more. */
static const char *const of_ncu[PRESETS][PRESET_NAMES] = {
    {"dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum", "l1tex__t_sectors.sum",
     "gpu__time_duration.sum"},
    {"sm__inst_executed_pipe_tensor.sum", "sm__inst_executed.sum", "sm__cycles_active.avg",
     "gpu__time_duration.sum"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "sm__cycles_active.avg", "sm__inst_executed.sum",
     "gpu__time_duration.sum"},
};
static const char *const of_rocprofv3[PRESETS][PRESET_NAMES] = {
    {"FETCH_SIZE", "WRITE_SIZE"},
    {"SQ_INSTS_VALU_MFMA_F16", "SQ_INSTS_VALU", "SQ_BUSY_CYCLES"},
    {"SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CYCLES"},
};

const struct key counters_keys[] = {
    {KEY_AT(struct counters, tool), .kind = KEY_CHOICE, .in = IN_BOTH, .words = tools},
    {KEY_AT(struct counters, when), .kind = KEY_CHOICE, .in = IN_BOTH, .words = whens},
    {KEY_AT(struct counters, preset), .kind = KEY_CHOICE, .in = IN_BOTH, .words = presets},
    {.name = "names", .kind = KEY_PART, .in = IN_BOTH},
    {.name = NULL},
};

/* A name becomes part of an argument of the profiler. */
static bool is_counter(const char *s)
{
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:=[]";
    size_t len = strlen(s);
    return len >= 1 && len <= LIMIT_COUNTER_NAME && strspn(s, signs) == len && s[0] != '.' && s[0] != '=';
}

static int read_names(struct counters *c, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || n < 1 || n > LIMIT_COUNTERS)
        return json_fail(at, err, "expected an array of 1 to %d names of counters", LIMIT_COUNTERS);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(at, i);
        const char *name = json_string_value(item.value);
        if (!name || !is_counter(name))
            return json_fail(
                &item, err,
                "expected a counter as its tool names it: letters, digits, '_', '.', ':', '=' and "
                "brackets, at most %d",
                LIMIT_COUNTER_NAME);
        c->name[c->count++] = name;
    }
    return 0;
}

int counters_load(struct counters *c, const struct json_at *at, struct err *err)
{
    const struct key_table table = {counters_keys, c};
    *c = (struct counters){.on = false};
    if (!at->value || json_is_null(at->value))
        return 0;
    struct json_at names = json_member(at, "names"), preset = json_member(at, "preset");
    if (keys_read(at, IN_BOTH, &table, 1, err) != 0 || read_names(c, &names, err) != 0)
        return -1;
    if (names.value && preset.value)
        return json_fail(&preset, err, "give names or a preset, not both");
    c->on = c->when != COUNTERS_NEVER;
    return 0;
}

void counters_names(const struct counters *c, enum counters_tool tool, const char **out)
{
    const char *const *preset = tool == COUNTERS_NCU ? of_ncu[c->preset] : of_rocprofv3[c->preset];
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        out[n++] = c->name[i];
    for (size_t i = 0; c->count == 0 && i < PRESET_NAMES && preset[i]; i++)
        out[n++] = preset[i];
    out[n] = NULL;
}
