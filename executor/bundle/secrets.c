#include "executor/bundle/secrets.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MASK "***"

enum { FORMS = 5 };

static int longer_first(const void *a, const void *b)
{
    size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
    return x < y ? 1 : x > y ? -1 : 0;
}

static int add_value(struct secrets *s, const char *name, const char *value, struct err *err)
{
    size_t len = value ? strlen(value) : 0;
    if (len == 0)
        return 0;
    if (len < SECRET_MIN)
        return err_set(err, ERR_INPUT,
                       "the secret %s has a value of %zu characters; hiding it needs at least %d", name, len,
                       SECRET_MIN);
    s->value[s->count++] = value;
    s->longest = len > s->longest ? len : s->longest;
    return 0;
}

/* Takes text, the value as something else writes it. */
static void add_form(struct secrets *s, const char *value, char *text)
{
    size_t len = strlen(text);
    if (len == 0 || strcmp(text, value) == 0) {
        free(text);
        return;
    }
    s->forms[s->n_forms++] = text;
    s->value[s->count++] = text;
    s->longest = len > s->longest ? len : s->longest;
}

/* Takes text, a JSON string, and returns it without its quotes. */
static char *unquoted(char *text)
{
    size_t len = strlen(text);
    memmove(text, text + 1, len - 2);
    text[len - 2] = '\0';
    return text;
}

/* Returns the value as it is inside single quotes of a shell, as in logged commands and after `set -x`. */
static char *shell_form(const char *value)
{
    static const char quote[] = "'\\''";
    char *out = xmalloc(strlen(value) * strlen(quote) + 1), *to = out;
    for (; *value; value++) {
        if (*value == '\'')
            to = stpcpy(to, quote);
        else
            *to++ = *value;
    }
    *to = '\0';
    return out;
}

/* Returns the value as Python's repr() has it, and so print(os.environ): with both kinds of quotes, the
 * single ones are escaped. */
static char *python_form(const char *value)
{
    static const char plain[] = "\\\t\n\r'", escaped[] = "\\tnr'";
    bool both = strchr(value, '\'') && strchr(value, '"');
    char *out = xmalloc(2 * strlen(value) + 1), *to = out;
    for (; *value; value++) {
        const char *at = *value == '\'' && !both ? NULL : strchr(plain, *value);
        if (at)
            *to++ = '\\';
        *to++ = at ? escaped[at - plain] : *value;
    }
    *to = '\0';
    return out;
}

/* Writes "\u00E4" as "\u00e4". */
static char *small_hex(char *text)
{
    for (char *p = text; (p = strchr(p, '\\')) && p[1]; p += 2)
        for (int i = 2; p[1] == 'u' && i < 6 && p[i]; i++)
            p[i] = (char)tolower((unsigned char)p[i]);
    return text;
}

/* A workload that prints its environment as JSON prints the value escaped, in one of three ways. A value that
 * is not UTF-8 has none of them. */
static void add_forms_of(struct secrets *s, const char *value)
{
    json_auto_t *string = json_string(value);
    add_form(s, value, shell_form(value));
    add_form(s, value, python_form(value));
    if (!string)
        return;
    add_form(s, value, unquoted(json_dumps(string, JSON_ENCODE_ANY)));
    add_form(s, value, unquoted(json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)));
    add_form(s, value, unquoted(small_hex(json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII))));
}

static void add_forms(struct secrets *s)
{
    for (size_t i = 0, n = s->count; i < n; i++)
        if (s->value[i])
            add_forms_of(s, s->value[i]);
}

static int add_from(struct secrets *s, const struct env *env, const char *name, struct err *err)
{
    for (size_t i = 0; i < env->count; i++) {
        if (strcmp(env->name[i], name) == 0 && add_value(s, name, env->value[i], err) != 0)
            return -1;
    }
    return 0;
}

static int add_named(struct secrets *s, const struct job *job, const char *name, struct err *err)
{
    if (add_from(s, &job->env, name, err) != 0)
        return -1;
    for (size_t v = 0; v < job->variant_count; v++)
        if (add_from(s, &job->variant[v].env, name, err) != 0)
            return -1;
    return add_value(s, name, getenv(name), err);
}

int secrets_init(struct secrets *s, const struct job *job, struct err *err)
{
    *s = (struct secrets){.count = 0};
    if (job->secrets.count == 0)
        return 0;
    size_t most = job->secrets.count * (job->variant_count + 2);
    s->value = xcalloc((1 + FORMS) * most, sizeof *s->value);
    s->forms = xcalloc(FORMS * most, sizeof *s->forms);
    for (size_t i = 0; i < job->secrets.count; i++) {
        if (add_named(s, job, job->secrets.name[i], err) == 0)
            continue;
        secrets_release(s);
        return -1;
    }
    add_forms(s);
    qsort(s->value, s->count, sizeof *s->value, longer_first);
    return 0;
}

void secrets_release(struct secrets *s)
{
    for (size_t i = 0; i < s->n_forms; i++)
        free(s->forms[i]);
    free(s->forms);
    free(s->value);
    *s = (struct secrets){.count = 0};
}

/* Returns the length of the secret at the start of text, 0 when there is none. *open is set when the text
 * ends within a possible secret. */
static size_t match_secret(const struct secrets *s, const char *text, size_t len, bool *open)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t n = strlen(s->value[i]);
        if (n <= len && memcmp(text, s->value[i], n) == 0)
            return n;
        if (n > len && memcmp(text, s->value[i], len) == 0)
            *open = true;
    }
    return 0;
}

/* Returns the first position from `at` on where a secret may begin. */
static size_t next_start(const struct secrets *s, const char *text, size_t at, size_t len)
{
    size_t best = len;
    for (size_t i = 0; i < s->count; i++) {
        const char *p = memchr(text + at, s->value[i][0], best - at);
        if (p)
            best = (size_t)(p - text);
    }
    return best;
}

/* Appends text with secrets masked and counts them in *found; when `more` may follow, stops before a possible
 * beginning of a secret. Returns how many bytes of text were consumed. */
static size_t mask_text(const struct secrets *s, const char *text, size_t len, bool more, struct buf *out,
                        size_t *found)
{
    size_t i = 0;
    while (i < len) {
        size_t start = next_start(s, text, i, len);
        buf_add(out, text + i, start - i);
        i = start;
        if (i == len)
            break;
        bool open = false;
        size_t n = match_secret(s, text + i, len - i, &open);
        if (open && more)
            return i;
        if (n > 0)
            buf_puts(out, MASK);
        else
            buf_putc(out, text[i]);
        *found += n > 0;
        i += n > 0 ? n : 1;
    }
    return i;
}

void secrets_clean_text(const struct secrets *s, const char *text, size_t len, struct buf *out)
{
    size_t found = 0;
    if (!s || s->count == 0)
        buf_add(out, text, len);
    else
        mask_text(s, text, len, false, out, &found);
}

void secrets_printable(const struct secrets *s, const char *text, size_t len, char *out, size_t cap)
{
    AUTO(buf_release) struct buf clean = {.max = len * sizeof MASK};
    secrets_clean_text(s, text, len, &clean);
    text_printable_fixed(out, cap, buf_str(&clean), clean.len);
}

bool secrets_in_text(const struct secrets *s, const char *text, size_t len)
{
    bool open = false;
    for (size_t i = 0; s && s->count && (i = next_start(s, text, i, len)) < len; i++)
        if (match_secret(s, text + i, len - i, &open) > 0)
            return true;
    return false;
}

static json_t *clean_string(const struct secrets *s, const json_t *value)
{
    size_t len = json_string_length(value);
    AUTO(buf_release) struct buf text = {.max = len * sizeof MASK};
    secrets_clean_text(s, json_string_value(value), len, &text);
    json_t *out = json_stringn(buf_str(&text), text.len);
    return out ? out : json_string(MASK);
}

/* Takes value. If several keys become the same, the last stays. */
static void set_cleaned(const struct secrets *s, json_t *object, const char *key, json_t *value)
{
    AUTO(buf_release) struct buf text = {.max = strlen(key) * sizeof MASK};
    secrets_clean_text(s, key, strlen(key), &text);
    json_object_set_new(object, buf_str(&text), value);
}

static json_t *clean_value(const struct secrets *s, json_t *value)
{
    const char *key;
    json_t *item, *out;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_STRING:
        return clean_string(s, value);
    case JSON_OBJECT:
        out = json_object();
        json_object_foreach(value, key, item) set_cleaned(s, out, key, clean_value(s, item));
        return out;
    case JSON_ARRAY:
        out = json_array();
        json_array_foreach(value, i, item) json_array_append_new(out, clean_value(s, item));
        return out;
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        break;
    }
    return json_incref(value);
}

json_t *secrets_clean_json(const struct secrets *s, json_t *value)
{
    if (!value || !s || s->count == 0)
        return json_incref(value);
    return clean_value(s, value);
}

void secrets_stream_init(struct secrets_stream *s, const struct secrets *secrets, secrets_sink *sink,
                         void *arg)
{
    *s = (struct secrets_stream){.secrets = secrets, .sink = sink, .arg = arg};
    buf_init(&s->held, 0);
}

static void pass_on(struct secrets_stream *s, const char *data, size_t len, bool more)
{
    AUTO(buf_release) struct buf joined = {.max = s->held.len + len};
    AUTO(buf_release) struct buf out = {.max = (s->held.len + len) * sizeof MASK};
    buf_add(&joined, s->held.data, s->held.len);
    buf_add(&joined, data, len);
    size_t done = mask_text(s->secrets, buf_str(&joined), joined.len, more, &out, &s->found);
    if (out.len > 0)
        s->sink(s->arg, buf_str(&out), out.len);
    buf_release(&s->held);
    buf_init(&s->held, s->secrets->longest);
    buf_add(&s->held, joined.data ? joined.data + done : NULL, joined.len - done);
}

void secrets_stream_feed(struct secrets_stream *s, const char *data, size_t len)
{
    if (!s->secrets || s->secrets->count == 0)
        s->sink(s->arg, data, len);
    else
        pass_on(s, data, len, true);
}

void secrets_stream_end(struct secrets_stream *s)
{
    if (s->held.len > 0)
        pass_on(s, "", 0, false);
}

void secrets_stream_release(struct secrets_stream *s)
{
    buf_release(&s->held);
}
