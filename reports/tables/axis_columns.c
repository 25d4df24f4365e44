#include "reports/tables/axis_columns.h"

#include "common/base/alloc.h"
#include "common/contract/shape.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a variant, without the dimensions of a shape; NULL without axes. A new object. */
static json_t *axes_of(const struct run_variant *v)
{
    json_t *axes = *v->axes ? json_loads(v->axes, 0, NULL) : NULL;
    bool shape = axes;
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        shape = shape && json_object_get(axes, shape_keys[d].name);
    for (int d = 0; shape && d < SHAPE_DIMENSIONS; d++)
        json_object_del(axes, shape_keys[d].name);
    return axes;
}

static bool varies(const char *axis, const json_t *first, const struct run_variant *const *variants, size_t n)
{
    bool other = false;
    for (size_t i = 0; i < n && !other; i++) {
        json_t *axes = axes_of(variants[i]), *value = json_object_get(axes, axis);
        other = value && !json_equal(value, json_object_get(first, axis));
        json_decref(axes);
    }
    return other;
}

void axis_columns_take(struct axis_columns *c, const struct run_variant *const *variants, size_t n)
{
    json_t *first = json_object(), *value;
    const char *key;
    *c = (struct axis_columns){.count = 0};
    for (size_t i = 0; i < n; i++) {
        json_auto_t *axes = axes_of(variants[i]);
        if (axes)
            json_object_update_missing(first, axes);
    }
    json_object_foreach(first, key, value)
    {
        if (c->count < AXIS_COLUMNS_MAX && varies(key, first, variants, n))
            snprintf(c->name[c->count++], AXIS_TITLE_MAX, "%s", key);
    }
    json_decref(first);
}

void axis_columns_add(const struct axis_columns *c, struct table *t)
{
    for (size_t i = 0; i < c->count; i++)
        table_column(t, c->name[i], true);
}

void axis_columns_row(const struct axis_columns *c, const struct run_variant *v, struct table *t)
{
    json_auto_t *axes = c->count > 0 ? axes_of(v) : NULL;
    for (size_t i = 0; i < c->count; i++) {
        const json_t *value = json_object_get(axes, c->name[i]);
        AUTO_FREE char *text = value && !json_is_string(value)
                                   ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))
                                   : NULL;
        table_code(t, text ? text : value ? json_string_value(value) : "-");
    }
}
