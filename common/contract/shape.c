#include "common/contract/shape.h"

#include <stdio.h>

static const char *const dtypes[] = {"f32", "f16", "bf16", NULL};

const struct key shape_keys[] = {
    {.name = "batch", .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 4096, .usual = 1},
    {.name = "heads", .kind = KEY_COUNT, .in = IN_BOTH, .required = true, .least = 1, .most = 4096},
    {.name = "kv_heads", .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 4096},
    {.name = "head_dim", .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 1024, .usual = 128},
    {.name = "dtype", .kind = KEY_WORD, .in = IN_BOTH, .words = dtypes, .text = "f32"},
    {.name = "causal", .kind = KEY_FLAG, .in = IN_BOTH, .usual = 1},
    {.name = NULL},
};

static void format_value(const json_t *value, char *out)
{
    if (json_is_boolean(value))
        snprintf(out, SHAPE_TEXT_MAX, "%s", json_is_true(value) ? "--causal" : "--no-causal");
    else if (json_is_string(value))
        snprintf(out, SHAPE_TEXT_MAX, "%s", json_string_value(value));
    else
        snprintf(out, SHAPE_TEXT_MAX, "%lld", (long long)json_integer_value(value));
}

int shape_read(struct shape *s, const struct json_at *at, struct err *err)
{
    const char *known[SHAPE_DIMENSIONS + 1] = {NULL};
    *s = (struct shape){0};
    if (!at->value)
        return 0;
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        known[d] = shape_keys[d].name;
    if (json_keys(at, known, err) != 0)
        return -1;
    for (int d = 0; d < SHAPE_DIMENSIONS; d++) {
        struct json_at value = json_member(at, known[d]);
        if (value.value && key_check(&shape_keys[d], &value, err) != 0)
            return -1;
        if (value.value)
            format_value(value.value, s->text[d]);
    }
    return 0;
}
