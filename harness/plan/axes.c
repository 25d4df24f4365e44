#include "harness/plan/axes.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/contract/env.h"
#include "common/contract/proto.h"
#include "common/contract/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const reserved[] = {"context", "contexts", "variant", "name", "env", "values", NULL};
static const char *const value_keys[] = {"name", "value", "env", NULL};
static const char *const axis_keys[] = {"values", "build", NULL};

const struct axis *axes_find(const struct axes *a, const char *name)
{
    for (size_t i = 0; a && i < a->count; i++)
        if (strcmp(a->axis[i].name, name) == 0)
            return &a->axis[i];
    return NULL;
}

static bool is_reserved(const char *name, bool kernel)
{
    for (size_t i = 0; reserved[i]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    for (int k = 0; k < SUBST_COUNT; k++)
        if ((kernel || k < SUBST_BATCH) && strcmp(name, subst_name((enum subst_key)k)) == 0)
            return true;
    return false;
}

static int check_name(const char *name, bool kernel, const struct json_at *at, struct err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_",
                      all[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    size_t len = strlen(name);
    if (len == 0 || len > 32 || !strchr(letters, name[0]) || strspn(name, all) != len)
        return json_fail(at, err,
                         "\"%.80s\" cannot name an axis: use lower-case letters, digits and '_', at "
                         "most 32",
                         name);
    return is_reserved(name, kernel)
               ? json_fail(at, err, "\"%s\" has a meaning of its own: give the axis another name", name)
               : 0;
}

static bool is_scalar(const json_t *value)
{
    return json_is_string(value) || json_is_boolean(value) || json_is_integer(value) ||
           (json_is_real(value) && isfinite(json_real_value(value)));
}

static int check_value_object(const struct json_at *at, struct err *err)
{
    struct json_at name = json_member(at, "name"), value = json_member(at, "value"),
                   env = json_member(at, "env");
    if (json_keys(at, value_keys, err) != 0)
        return -1;
    if (!json_is_string(name.value) || !text_is_name(json_string_value(name.value)))
        return json_fail(&name, err, "expected a name of letters, digits, '.', '_' and '-'");
    if (value.value && !is_scalar(value.value))
        return json_expected(&value, "a string, a number or a boolean", err);
    if (env.value && !json_is_object(env.value))
        return json_expected(&env, "an object of environment variables", err);
    return 0;
}

static int check_value(const struct json_at *at, struct err *err)
{
    bool object = json_is_object(at->value);
    const json_t *text = object ? json_object_get(at->value, "value") : at->value;
    if (!object && !is_scalar(at->value))
        return json_expected(at, "a string, a number, a boolean, or an object with a \"name\"", err);
    if (object && check_value_object(at, err) != 0)
        return -1;
    bool empty = !object && json_is_string(text) && json_string_length(text) == 0;
    return empty || json_string_length(text) >= AXIS_TEXT_MAX
               ? json_fail(at, err, "expected a string of 1 to %d bytes", AXIS_TEXT_MAX - 1)
               : 0;
}

static int check_twice(const json_t *values, const json_t *value, const struct json_at *at, struct err *err)
{
    char word[AXIS_TEXT_MAX], other[AXIS_TEXT_MAX];
    axis_value_word(value, word);
    for (size_t i = 0; i < json_array_size(values); i++)
        if (strcmp(axis_value_word(json_array_get(values, i), other), word) == 0)
            return json_fail(at, err, "the value \"%.80s\" is listed twice", word);
    return 0;
}

static int add_value(json_t *values, const struct json_at *at, struct err *err)
{
    if (check_value(at, err) != 0 || check_twice(values, at->value, at, err) != 0)
        return -1;
    return json_array_append_new(values, json_deep_copy(at->value));
}

static int read_values(struct axis *axis, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    axis->values = json_array();
    axis->named = json_is_array(at->value);
    if (!axis->named)
        return add_value(axis->values, at, err);
    if (n < 1 || n > AXIS_VALUES_MAX)
        return json_fail(at, err, "expected a value, or an array of 1 to %d of them", AXIS_VALUES_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(at, i);
        if (add_value(axis->values, &item, err) != 0)
            return -1;
    }
    return 0;
}

/* at: an array of the values, or an object that contains it and further settings of the axis. */
static int read_axis(struct axis *axis, const struct json_at *at, struct err *err)
{
    struct json_at values = json_member(at, "values");
    axis->in_build = true;
    if (!json_is_object(at->value) || !values.value)
        return read_values(axis, at, err);
    if (json_keys(at, axis_keys, err) != 0 || json_get_bool_def(at, "build", &axis->in_build, err) != 0)
        return -1;
    return read_values(axis, &values, err);
}

static struct axis *place_for(struct axes *a, const char *name, const struct json_at *at, struct err *err)
{
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->axis[i].name, name) != 0)
            continue;
        json_decref(a->axis[i].values);
        a->axis[i] = (struct axis){.name = name};
        return &a->axis[i];
    }
    if (a->count == AXES_MAX) {
        json_fail(at, err, "expected at most %d axes", AXES_MAX);
        return NULL;
    }
    a->axis[a->count] = (struct axis){.name = name};
    return &a->axis[a->count++];
}

static int read_crossed(struct axes *a, const struct json_at *at, bool kernel, struct err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_iterable(at->value), name, value)
    {
        struct json_at item = json_member(at, name);
        struct axis *axis = check_name(name, kernel, &item, err) == 0 ? place_for(a, name, &item, err) : NULL;
        if (!axis || read_axis(axis, &item, err) != 0)
            return -1;
    }
    return 0;
}

static void copy_axes(struct axes *a, const struct axes *base)
{
    for (a->count = 0; a->count < base->count; a->count++) {
        a->axis[a->count] = base->axis[a->count];
        json_incref(a->axis[a->count].values);
    }
}

/* Writes the sizes of the axes and the number of points, such as "2 x 3 x 64 = 384 points". */
static void describe_product(const struct axes *a, size_t n, struct buf *out)
{
    for (size_t i = 0; i < a->count; i++)
        buf_printf(out, "%s%zu", i ? " x " : "", json_array_size(a->axis[i].values));
    buf_printf(out, a->count > 1 ? " = %zu points" : " points", n);
}

static int check_product(const struct axes *a, size_t more, const struct json_at *at, struct err *err)
{
    size_t n = 1;
    AUTO(buf_release) struct buf text = {.max = 256};
    for (size_t i = 0; i < a->count; i++)
        n *= json_array_size(a->axis[i].values);
    if (n + more <= AXES_POINTS_MAX)
        return 0;
    describe_product(a, n, &text);
    return json_fail(at, err, "spans %s, the limit is %d: take fewer values, or list the points",
                     buf_str(&text), AXES_POINTS_MAX);
}

/* Advances to the next combination, varying the last axis fastest; false after the last one. */
static bool next_choice(const struct axes *a, size_t *chosen)
{
    for (size_t i = a->count; i-- > 0;) {
        if (++chosen[i] < json_array_size(a->axis[i].values))
            return true;
        chosen[i] = 0;
    }
    return false;
}

static int cross(const struct axes *a, json_t *points, const struct json_at *at, struct err *err)
{
    size_t chosen[AXES_MAX] = {0};
    if (check_product(a, json_array_size(points), at, err) != 0)
        return -1;
    do {
        json_t *point = json_object();
        for (size_t i = 0; i < a->count; i++)
            json_object_set(point, a->axis[i].name, json_array_get(a->axis[i].values, chosen[i]));
        json_array_append_new(points, point);
    } while (next_choice(a, chosen));
    return 0;
}

static bool same_axes(const struct axes *a, const struct axes *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!axes_find(b, a->axis[i].name))
            return false;
    return a->count == b->count;
}

/* Adds the values of an entry to those of the axes, so that each axis lists all values of all points. */
static void gather(struct axes *a, const struct axes *entry)
{
    char word[AXIS_TEXT_MAX], other[AXIS_TEXT_MAX];
    for (size_t i = 0; i < a->count; i++) {
        const struct axis *from = axes_find(entry, a->axis[i].name);
        for (size_t v = 0; v < json_array_size(from->values); v++) {
            json_t *value = json_array_get(from->values, v);
            size_t k = 0;
            axis_value_word(value, word);
            while (k < json_array_size(a->axis[i].values) &&
                   strcmp(axis_value_word(json_array_get(a->axis[i].values, k), other), word) != 0)
                k++;
            if (k == json_array_size(a->axis[i].values))
                json_array_append(a->axis[i].values, value);
        }
        a->axis[i].named = true;
    }
}

static int read_entry(struct axes *a, const struct json_at *at, bool kernel, struct err *err)
{
    AUTO(axes_release) struct axes entry = {.count = 0};
    if (!json_is_object(at->value) || json_object_size(at->value) == 0)
        return json_expected(at, "an object with a value, or an array of them, for each axis", err);
    if (read_crossed(&entry, at, kernel, err) != 0)
        return -1;
    if (a->count == 0)
        copy_axes(a, &entry);
    else if (!same_axes(a, &entry))
        return json_fail(at, err, "expected the axes of the first entry: all points have the same");
    else
        gather(a, &entry);
    return cross(&entry, a->points, at, err);
}

static int read_listed(struct axes *a, const struct json_at *at, bool kernel, struct err *err)
{
    a->listed = true;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at item = json_element(at, i);
        if (read_entry(a, &item, kernel, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < a->count; i++)
        a->axis[i].named = true;
    return json_array_size(at->value) > 0
               ? 0
               : json_fail(at, err, "expected an object of axes, or a list of points, found an empty array");
}

int axes_read(struct axes *a, const struct json_at *at, const struct axes *base, bool kernel, struct err *err)
{
    if (base)
        copy_axes(a, base);
    if (!at->value && (!base || base->count == 0))
        return 0;
    a->points = json_array();
    if (!at->value) {
        a->listed = base->listed;
        return json_array_extend(a->points, base->points);
    }
    if (base && (base->listed || json_is_array(at->value)) && base->count > 0)
        return json_fail(at, err,
                         "a variant's own axes need axes that are crossed, here and in the plan: write "
                         "them as objects");
    if (json_is_array(at->value))
        return read_listed(a, at, kernel, err);
    if (!json_is_object(at->value) || json_object_size(at->value) == 0)
        return json_expected(at, "an object of axes, such as {\"block\": [64, 128]}, or a list of points",
                             err);
    return read_crossed(a, at, kernel, err) != 0 ? -1 : cross(a, a->points, at, err);
}

void axes_release(struct axes *a)
{
    for (size_t i = 0; i < a->count; i++)
        json_decref(a->axis[i].values);
    json_decref(a->points);
    *a = (struct axes){.count = 0};
}

static void put_scalar(const json_t *value, struct buf *out)
{
    if (json_is_string(value))
        buf_puts(out, json_string_value(value));
    else if (json_is_boolean(value))
        buf_puts(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    else
        buf_printf(out, "%.15g", json_real_value(value));
}

void axis_value_text(const json_t *value, struct buf *out)
{
    const json_t *own = json_object_get(value, "value");
    put_scalar(json_is_object(value) ? own ? own : json_object_get(value, "name") : value, out);
}

const char *axis_value_word(const json_t *value, char out[AXIS_TEXT_MAX])
{
    AUTO(buf_release) struct buf text = {.max = AXIS_TEXT_MAX - 1};
    put_scalar(json_is_object(value) ? json_object_get(value, "name") : value, &text);
    snprintf(out, AXIS_TEXT_MAX, "%s", buf_str(&text));
    return out;
}

const json_t *axis_value_env(const json_t *value)
{
    return json_is_object(value) ? json_object_get(value, "env") : NULL;
}

/* Characters that are not allowed in a name become '-'. */
static void put_name_part(const char *word, struct buf *out)
{
    for (; *word; word++) {
        char one[] = {'x', *word, '\0'};
        buf_putc(out, text_is_name(one) ? *word : '-');
    }
}

void axes_suffix(const struct axes *a, const json_t *point, struct buf *out)
{
    const char *separator = "";
    for (size_t i = 0; i < a->count; i++) {
        char word[AXIS_TEXT_MAX];
        const json_t *value = json_object_get(point, a->axis[i].name);
        if (!a->axis[i].named)
            continue;
        buf_puts(out, separator);
        separator = "_";
        if (json_is_boolean(value))
            buf_printf(out, "%s%s", json_is_true(value) ? "" : "no-", a->axis[i].name);
        else if (json_is_number(value))
            buf_puts(out, a->axis[i].name);
        if (!json_is_boolean(value))
            put_name_part(axis_value_word(value, word), out);
    }
}

json_t *axes_encode(const struct axes *a, const json_t *point)
{
    json_t *out = json_object();
    for (size_t i = 0; i < a->count; i++) {
        json_t *value = json_object_get(point, a->axis[i].name);
        json_object_set(out, a->axis[i].name, json_is_object(value) ? json_object_get(value, "name") : value);
    }
    return out;
}
