#include "harness/plan/axis_text.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "common/contract/subst.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40, EXPANDED_MAX = 4 * LIMIT_ARG_BYTES };

/* What a brace in a text may begin. */
enum brace { BRACE_LITERAL, BRACE_AXIS, BRACE_VARIANT, BRACE_MISSPELT, BRACE_SHELL };

/* Reads "{word}" at s into word. *len: its length with both braces. */
static bool read_word(const char *s, char word[WORD_MAX], size_t *len)
{
    size_t n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    *len = n + 2;
    if (n == 0 || n >= WORD_MAX || s[n + 1] != '}')
        return false;
    snprintf(word, WORD_MAX, "%.*s", (int)n, s + 1);
    return true;
}

static bool is_builtin(const char *word)
{
    for (int k = 0; k < SUBST_COUNT; k++)
        if (strcmp(word, subst_name((enum subst_key)k)) == 0)
            return true;
    return false;
}

/* The axis that was probably meant by the word, or NULL. */
static const char *nearest_axis(const struct axes *a, const char *word)
{
    const char *known[AXES_MAX];
    for (size_t i = 0; i < a->count; i++)
        known[i] = a->axis[i].name;
    return text_nearest(word, known, a->count);
}

static enum brace classify(const struct axes *a, const char *template, const char *s, char word[WORD_MAX],
                           size_t *len)
{
    bool of_shell = s > template && s[-1] == '$';
    if (!read_word(s, word, len))
        return BRACE_LITERAL;
    if (axes_find(a, word))
        return of_shell ? BRACE_SHELL : BRACE_AXIS;
    if (strcmp(word, "variant") == 0)
        return of_shell ? BRACE_LITERAL : BRACE_VARIANT;
    return of_shell || is_builtin(word) || !nearest_axis(a, word) ? BRACE_LITERAL : BRACE_MISSPELT;
}

/* Braces of a value are escaped, so that the executor does not expand them. */
static void put_escaped(const char *text, bool escape, struct buf *out)
{
    for (; *text; text++) {
        if (escape && *text == '{')
            buf_putc(out, '{');
        buf_putc(out, *text);
    }
}

static void put_value(const struct axis_text *t, const char *word, bool escape, struct buf *out)
{
    AUTO(buf_release) struct buf value = {.max = AXIS_TEXT_MAX};
    if (strcmp(word, "variant") == 0)
        buf_puts(&value, t->variant);
    else
        axis_value_text(json_object_get(t->point, word), &value);
    put_escaped(buf_str(&value), escape, out);
}

static int refuse(enum brace what, const struct axis_text *t, const char *word, const struct json_at *at,
                  struct err *err)
{
    if (what == BRACE_SHELL)
        return json_fail(
            at, err,
            "${%s} could be the axis or a variable of the shell: write {%s} for the axis, or give "
            "the variable another name",
            word, word);
    return json_fail(at, err,
                     "unknown placeholder {%s} (did you mean {%s}?); write {{%s} for the literal text {%s}",
                     word, nearest_axis(t->axes, word), word, word);
}

/* Appends the text at `at` with the axes' placeholders replaced. */
static int expand_text(const struct axis_text *t, const struct json_at *at, struct buf *out, struct err *err)
{
    const char *template = json_string_value(at->value);
    char word[WORD_MAX];
    size_t len;
    for (const char *s = template; *s;) {
        if (s[0] == '{' && s[1] == '{') {
            buf_puts(out, "{{");
            s += 2;
            continue;
        }
        enum brace what = *s == '{' ? classify(t->axes, template, s, word, &len) : BRACE_LITERAL;
        if (what == BRACE_MISSPELT || what == BRACE_SHELL)
            return refuse(what, t, word, at, err);
        if (what == BRACE_LITERAL) {
            buf_putc(out, *s++);
            continue;
        }
        put_value(t, word, true, out);
        s += len;
    }
    return buf_ok(out) ? 0 : json_fail(at, err, "longer than %zu bytes with the axes' values", out->max);
}

static int expand_string(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = EXPANDED_MAX};
    int rc = expand_text(t, at, &text, err);
    *out = rc == 0 ? json_string(buf_str(&text)) : NULL;
    return *out ? 0 : -1;
}

static int expand_any(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err);

static int expand_array(const struct axis_text *t, const struct json_at *at, json_t *out, struct err *err)
{
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at item = json_element(at, i);
        json_t *value;
        if (expand_any(t, &item, &value, err) != 0)
            return -1;
        json_array_append_new(out, value);
    }
    return 0;
}

static int expand_object(const struct axis_text *t, const struct json_at *at, json_t *out, struct err *err)
{
    const char *key;
    json_t *value, *made;
    json_object_foreach(json_iterable(at->value), key, value)
    {
        struct json_at item = json_member(at, key);
        bool secret = t->secrets && secret_names_have(t->secrets, key);
        if (secret)
            made = json_deep_copy(value);
        else if (expand_any(t, &item, &made, err) != 0)
            return -1;
        json_object_set_new(out, key, made);
    }
    return 0;
}

/* *out is NULL after a failure. */
static int expand_any(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err)
{
    if (json_is_string(at->value))
        return expand_string(t, at, out, err);
    bool array = json_is_array(at->value);
    *out = array ? json_array() : json_is_object(at->value) ? json_object() : json_deep_copy(at->value);
    int rc = array                       ? expand_array(t, at, *out, err)
             : json_is_object(at->value) ? expand_object(t, at, *out, err)
                                         : 0;
    if (rc == 0)
        return 0;
    json_decref(*out);
    *out = NULL;
    return -1;
}

/* A replacement is source text, in which braces that name no axis are common, so they stay. */
static json_t *expand_replacement(const struct axis_text *t, const char *text)
{
    AUTO(buf_release) struct buf out = {.max = EXPANDED_MAX};
    char word[WORD_MAX];
    size_t len;
    while (*text) {
        if (*text == '{' && read_word(text, word, &len) && axes_find(t->axes, word)) {
            put_value(t, word, false, &out);
            text += len;
        } else {
            buf_putc(&out, *text++);
        }
    }
    return json_string(buf_str(&out));
}

json_t *axis_text_patches(const struct axis_text *t, const json_t *patches)
{
    json_t *out = json_deep_copy(patches), *patch;
    size_t i;
    json_array_foreach(out, i, patch)
    {
        const char *text = json_string_value(json_object_get(patch, "replacement"));
        if (text)
            json_object_set_new(patch, "replacement", expand_replacement(t, text));
    }
    return out;
}

/* Sets the variables of the axes' values, which take precedence over the variant's own. */
static int add_values_env(const struct axis_text *t, json_t *variant, const struct json_at *at,
                          struct err *err)
{
    json_t *env = json_object_get(variant, "env");
    json_auto_t *seen = json_object();
    for (size_t i = 0; i < t->axes->count; i++) {
        const json_t *own = axis_value_env(json_object_get(t->point, t->axes->axis[i].name));
        struct json_at where = *at;
        where.value = own;
        const char *key;
        json_t *value, *made;
        snprintf(where.path, sizeof where.path, "$.axes.%s.env", t->axes->axis[i].name);
        json_object_foreach(json_iterable(own), key, value)
        {
            struct json_at item = json_member(&where, key);
            if (!env)
                json_object_set_new(variant, "env", env = json_object());
            if (json_object_get(seen, key))
                return json_fail(&item, err, "another axis sets it too");
            if (expand_any(t, &item, &made, err) != 0)
                return -1;
            json_object_set_new(env, key, made);
            json_object_set_new(seen, key, json_true());
        }
    }
    return 0;
}

static bool mentions_late(const struct axes *a, const json_t *value);

static bool any_late(const struct axes *a, const json_t *value)
{
    size_t i;
    json_t *item;
    const char *key;
    json_array_foreach(value, i, item)
    {
        if (mentions_late(a, item))
            return true;
    }
    json_object_foreach(json_iterable(value), key, item)
    {
        if (mentions_late(a, item))
            return true;
    }
    return false;
}

/* Whether the text names an axis in braces; late_only counts only axes with "build": false. */
static bool has_axis(const struct axes *a, const char *text, bool late_only)
{
    char word[WORD_MAX];
    size_t len;
    for (const char *s = text; *s; s++) {
        if (s[0] == '{' && s[1] == '{') {
            s++;
            continue;
        }
        const struct axis *axis = *s == '{' && read_word(s, word, &len) ? axes_find(a, word) : NULL;
        if (axis && !(late_only && axis->in_build))
            return true;
    }
    return false;
}

static bool mentions_late(const struct axes *a, const json_t *value)
{
    return json_is_string(value) ? has_axis(a, json_string_value(value), true) : any_late(a, value);
}

bool axis_text_mentions(const struct axes *a, const char *text)
{
    return has_axis(a, text, false);
}

/* An axis with "build": false must not occur in anything that goes into a build. */
static int check_build(const struct axis_text *t, const struct json_at *at, struct err *err)
{
    static const char *const made_of[] = {"build", "patches", NULL};
    for (size_t i = 0; made_of[i]; i++) {
        struct json_at part = json_member(at, made_of[i]);
        if (part.value && any_late(t->axes, part.value))
            return json_fail(&part, err, "depends on an axis that says \"build\": false");
    }
    return 0;
}

static int expand_key(const struct axis_text *t, const char *key, const struct json_at *item, json_t *out,
                      struct err *err)
{
    json_t *made = NULL;
    if (strcmp(key, "axes") == 0)
        return 0;
    if (strcmp(key, "name") == 0 || strcmp(key, "comment") == 0)
        made = json_deep_copy(item->value);
    else if (strcmp(key, "patches") == 0)
        made = axis_text_patches(t, item->value);
    else if (expand_any(t, item, &made, err) != 0)
        return -1;
    return json_object_set_new(out, key, made);
}

int axis_text_variant(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err)
{
    const char *key;
    json_t *value;
    *out = NULL;
    if (!json_is_object(at->value))
        return json_expected(at, "an object", err);
    if (check_build(t, at, err) != 0)
        return -1;
    json_auto_t *made = json_object();
    json_object_foreach(json_iterable(at->value), key, value)
    {
        struct json_at item = json_member(at, key);
        if (expand_key(t, key, &item, made, err) != 0)
            return -1;
    }
    if (add_values_env(t, made, at, err) != 0)
        return -1;
    *out = json_incref(made);
    return 0;
}

int axis_text_env(const struct axis_text *t, const struct json_at *at, json_t *out, struct err *err)
{
    const char *key;
    json_t *value, *made;
    json_object_foreach(json_iterable(at->value), key, value)
    {
        struct json_at item = json_member(at, key);
        if (!json_is_string(value) || secret_names_have(t->secrets, key) ||
            !axis_text_mentions(t->axes, json_string_value(value)))
            continue;
        if (expand_any(t, &item, &made, err) != 0)
            return -1;
        json_object_set_new(out, key, made);
    }
    return 0;
}

static bool sets_late(const struct axis_text *t, const char *name)
{
    for (size_t i = 0; i < t->axes->count; i++) {
        const struct axis *axis = &t->axes->axis[i];
        if (!axis->in_build && json_object_get(axis_value_env(json_object_get(t->point, axis->name)), name))
            return true;
    }
    return false;
}

json_t *axis_text_take_late(const struct axis_text *t, json_t *env, const json_t *written,
                            const json_t *of_plan)
{
    json_t *late = json_object(), *value;
    const json_t *own = json_object_get(written, "env");
    const char *name;
    void *next;
    json_object_foreach_safe(env, next, name, value)
    {
        const json_t *as_written = json_object_get(own, name);
        if (!as_written)
            as_written = json_object_get(of_plan, name);
        if (!sets_late(t, name) && !mentions_late(t->axes, as_written))
            continue;
        json_object_set(late, name, value);
        json_object_del(env, name);
    }
    return late;
}
