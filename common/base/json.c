#include "common/base/json.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json_scan.h"
#include "common/base/problems.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 15 digits make 0.1 come out as 0.1 and not as 0.10000000000000001. */
#define JSON_FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* Every program that reads or writes JSON needs this, because jansson's own malloc() may fail. Where
 * json_arena.c is linked, its functions replace these. */
__attribute__((constructor(101))) static void install_memory(void)
{
    json_set_alloc_funcs(xmalloc, free);
}

size_t json_count_values(const char *text, size_t len)
{
    size_t values = 1;
    bool quoted = false;
    for (size_t i = 0; i < len && values <= JSON_VALUES_MAX; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted)
            i += text[i] == '\\';
        else
            values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return values;
}

json_t *json_parse(const char *text, size_t len, const char *file, struct err *err)
{
    json_error_t e;
    if (json_count_values(text, len) > JSON_VALUES_MAX) {
        err_set(err, ERR_INPUT, "%s: more than %d JSON values", file, JSON_VALUES_MAX);
        return NULL;
    }
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!value) {
        char why[ERR_MSG_MAX / 2];
        struct json_mark mark;
        json_scan_explain(text, len, &e, &mark, why, sizeof why);
        err_set(err, ERR_INPUT, "%s:%u:%u: not valid JSON: %s", file, mark.line, mark.column, why);
        return NULL;
    }
    return value;
}

json_t *json_load(const char *path, size_t max, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = max};
    if (fs_read_file(path, max, &text, err) != 0)
        return NULL;
    return json_parse(buf_str(&text), text.len, path, err);
}

int json_save(const char *path, const json_t *value, struct err *err)
{
    AUTO_FREE char *text = json_dumps(value, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_FLAGS);
    if (!text)
        return err_set(err, ERR_INTERNAL, "%s: cannot encode as JSON", path);
    size_t len = strlen(text);
    text[len] = '\n'; /* replaces the NUL, as fs_write_file() takes a length */
    return fs_write_file(path, text, len + 1, 0600, err);
}

static int append_text(const char *data, size_t len, void *arg)
{
    buf_add(arg, data, len);
    return 0;
}

int json_encode(const json_t *value, struct buf *out, struct err *err)
{
    int rc = json_dump_callback(value, append_text, out, JSON_COMPACT | JSON_FLAGS);
    if (rc != 0 || !buf_ok(out))
        return err_set(err, ERR_INTERNAL, "cannot encode as JSON within %zu bytes", out->max);
    return 0;
}

struct json_at json_root(const json_t *value, const char *file)
{
    struct json_at at = {.value = value, .file = file};
    snprintf(at.path, sizeof at.path, "$");
    return at;
}

/* Truncates, which only shortens a message. Returns the new length. Avoids printf because nearly all
 * locations are never shown. */
static size_t append_place(struct json_at *at, size_t len, const char *text)
{
    size_t n = strnlen(text, sizeof at->path - 1 - len);
    memcpy(at->path + len, text, n);
    at->path[len + n] = '\0';
    return len + n;
}

struct json_at json_member(const struct json_at *obj, const char *key)
{
    struct json_at at;
    at.value = obj->value ? json_object_get(obj->value, key) : NULL;
    at.file = obj->file;
    at.source = obj->source;
    size_t n = append_place(&at, 0, obj->path);
    n = append_place(&at, n, ".");
    append_place(&at, n, key);
    return at;
}

struct json_at json_element(const struct json_at *arr, size_t i)
{
    struct json_at at;
    at.value = arr->value ? json_array_get(arr->value, i) : NULL;
    at.file = arr->file;
    at.source = arr->source;
    size_t n = append_place(&at, 0, arr->path);
    snprintf(at.path + n, sizeof at.path - n, "[%zu]", i);
    return at;
}

const char *json_text(const json_t *obj, const char *key)
{
    const char *text = json_string_value(json_object_get(obj, key));
    return text ? text : "";
}

json_t *json_iterable(const json_t *object)
{
    return (json_t *)(uintptr_t)object;
}

/* located: what the line and column are of, which may be a key of the object that the message names. */
static int fail_at(const struct json_at *at, const struct json_at *located, bool key, struct err *err,
                   const char *text)
{
    const struct json_source *s = at->source;
    struct json_mark mark = {0};
    struct err problem;
    struct err *out = s ? &problem : err;
    if (s && s->locate && s->locate(s, located->path, key, &mark))
        err_set(out, ERR_INPUT, "%s:%u:%u: %s: %s", at->file, mark.line, mark.column, at->path, text);
    else
        err_set(out, ERR_INPUT, "%s: %s: %s", at->file, at->path, text);
    if (s)
        problems_add(s->problems, &mark, located->path, problem.msg);
    return -1;
}

int json_fail(const struct json_at *at, struct err *err, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return fail_at(at, at, false, err, text);
}

static const char *type_name(const json_t *v)
{
    if (!v)
        return "nothing";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

enum { SHOWN_MAX = 40 };

/* Describes a value as in "an integer, 3": long texts, objects and arrays are named by their type alone. */
static void describe(const json_t *v, char *out, size_t cap)
{
    char *text = json_is_string(v) || json_is_number(v) ? json_dumps(v, JSON_FLAGS) : NULL;
    bool shown = text && strlen(text) <= SHOWN_MAX;
    snprintf(out, cap, "%s%s%s", type_name(v), shown ? ", " : "", shown ? text : "");
    free(text);
}

int json_expected(const struct json_at *at, const char *what, struct err *err)
{
    char found[SHOWN_MAX + 32];
    describe(at->value, found, sizeof found);
    return json_fail(at, err, "expected %s, found %s", what, found);
}

static int unknown_key(const struct json_at *at, const char *key, const char *hint, struct err *err)
{
    char text[256];
    struct json_at member = json_member(at, key);
    if (hint)
        snprintf(text, sizeof text, "unknown key \"%.100s\" (did you mean \"%s\"?)", key, hint);
    else
        snprintf(text, sizeof text, "unknown key \"%.100s\"", key);
    return fail_at(at, &member, true, err, text);
}

int json_keys(const struct json_at *at, const char *const *known, struct err *err)
{
    if (!json_is_object(at->value))
        return json_expected(at, "an object", err);
    int rc = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_iterable(at->value), key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (known[i] || (rc != 0 && !at->source))
            continue;
        while (known[i])
            i++;
        rc = unknown_key(at, key, text_nearest(key, known, i), err);
    }
    return rc;
}

/* The location is computed only here, as it is needed only for the message. */
static int not_member(const struct json_at *obj, const char *key, const char *what, struct err *err)
{
    struct json_at at = json_member(obj, key);
    return json_expected(&at, what, err);
}

int json_get_str(const struct json_at *obj, const char *key, const char **out, struct err *err)
{
    const json_t *value = json_object_get(obj->value, key);
    if (!json_is_string(value))
        return not_member(obj, key, "a string", err);
    *out = json_string_value(value);
    return 0;
}

int json_get_text(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err)
{
    const char *text = "";
    if (json_get_str(obj, key, &text, err) != 0)
        return -1;
    struct json_at at = json_member(obj, key);
    if (strlen(text) >= size)
        return json_fail(&at, err, "longer than %zu bytes", size - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

int json_get_str_def(const struct json_at *obj, const char *key, const char **out, struct err *err)
{
    return json_object_get(obj->value, key) ? json_get_str(obj, key, out, err) : 0;
}

int json_get_int(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                 struct err *err)
{
    const json_t *value = json_object_get(obj->value, key);
    if (!json_is_integer(value))
        return not_member(obj, key, "an integer", err);
    int64_t v = json_integer_value(value);
    if (v < lo || v > hi) {
        struct json_at at = json_member(obj, key);
        return json_fail(&at, err, "expected an integer from %lld to %lld, found %lld", (long long)lo,
                         (long long)hi, (long long)v);
    }
    *out = v;
    return 0;
}

int json_get_int_def(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                     struct err *err)
{
    return json_object_get(obj->value, key) ? json_get_int(obj, key, lo, hi, out, err) : 0;
}

int json_get_num(const struct json_at *obj, const char *key, double lo, double hi, double *out,
                 struct err *err)
{
    const json_t *value = json_object_get(obj->value, key);
    if (!json_is_number(value))
        return not_member(obj, key, "a number", err);
    double v = json_number_value(value);
    if (!isfinite(v) || v < lo || v > hi) {
        struct json_at at = json_member(obj, key);
        return json_fail(&at, err, "expected a number from %g to %g, found %g", lo, hi, v);
    }
    *out = v;
    return 0;
}

int json_get_bool_def(const struct json_at *obj, const char *key, bool *out, struct err *err)
{
    const json_t *value = json_object_get(obj->value, key);
    if (!value)
        return 0;
    if (!json_is_boolean(value))
        return not_member(obj, key, "true or false", err);
    *out = json_is_true(value);
    return 0;
}
