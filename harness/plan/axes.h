/* axes: what a plan varies in addition to its contexts: named axes with their values, and the points that
 * they span.
 *
 * An object crosses its axes ("axes": {"block": [64, 128], "dtype": ["bf16", "fp16"]}); an array lists
 * entries, each of which crosses its own values. A value is a string, a number, a boolean, or an object that
 * gives it a name ({"name": "rocm-7.2", "value": "/opt/rocm-7.2", "env": {...}}). axis_text applies the
 * values to the commands of a variant; conditions decides which points are left out.
 */
#pragma once

#include "common/base/json.h"

enum {
    AXES_MAX = 8,
    AXIS_VALUES_MAX = 64,
    AXES_POINTS_MAX = 4096,
    AXIS_TEXT_MAX = 1024,
    AXES_ENCODED_MAX = 1000
};

struct axis {
    const char *name; /* borrowed from the plan */
    json_t *values;   /* owned: an array of them, as written */
    bool named;       /* its values are part of the names of points */
    bool in_build;    /* builds may depend on it */
};

struct axes {
    struct axis axis[AXES_MAX];
    size_t count;   /* 0: none */
    bool listed;    /* written as a list of points */
    json_t *points; /* owned: an array of objects of the axes' values; NULL without axes */
};

/* at: "axes" of a plan or a variant, which may be absent. base: the plan's axes, which those of a variant
 * extend or replace; NULL: none. kernel: the placeholders of shapes are reserved. *a must be zeroed; call
 * axes_release() even after a failure. */
int axes_read(struct axes *a, const struct json_at *at, const struct axes *base, bool kernel,
              struct err *err);
void axes_release(struct axes *a);
/* The axis of that name, or NULL. */
const struct axis *axes_find(const struct axes *a, const char *name);

/* Appends the text that takes the place of the axis' placeholder in a command. */
void axis_value_text(const json_t *value, struct buf *out);
/* The name of a value in names, conditions and on the command line. */
const char *axis_value_word(const json_t *value, char out[AXIS_TEXT_MAX]);
/* The environment that a value sets, or NULL. */
const json_t *axis_value_env(const json_t *value);

/* Appends the part of a name that tells a point from the others: "block64_bf16". */
void axes_suffix(const struct axes *a, const json_t *point, struct buf *out);
/* Returns a new object with the value, or its name, of each axis at the point, as the store has it. */
json_t *axes_encode(const struct axes *a, const json_t *point);
