#include "executor/bundle/secrets.h"

#include <stdlib.h>
#include <string.h>

#define MASK "***"

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
                       "the secret %s has a value of %zu characters; hiding it takes at least %d", name, len,
                       SECRET_MIN);
    s->value[s->count++] = value;
    s->longest = len > s->longest ? len : s->longest;
    return 0;
}

static int add_from(struct secrets *s, const struct env *env, const char *name, struct err *err)
{
    for (size_t i = 0; i < env->count; i++) {
        if (strcmp(env->name[i], name) == 0 && add_value(s, name, env->value[i], err) != 0)
            return -1;
    }
    return 0;
}

int secrets_init(struct secrets *s, const struct job *job, struct err *err)
{
    *s = (struct secrets){.count = 0};
    if (job->secrets.count == 0)
        return 0;
    s->value = calloc(job->secrets.count * (job->variant_count + 2), sizeof *s->value);
    if (!s->value)
        return err_set(err, ERR_INTERNAL, "no memory for the secrets");
    for (size_t i = 0; i < job->secrets.count; i++) {
        int rc = add_from(s, &job->env, job->secrets.name[i], err);
        for (size_t v = 0; rc == 0 && v < job->variant_count; v++)
            rc = add_from(s, &job->variant[v].env, job->secrets.name[i], err);
        if (rc == 0)
            rc = add_value(s, job->secrets.name[i], getenv(job->secrets.name[i]), err);
        if (rc != 0) {
            secrets_release(s);
            return -1;
        }
    }
    qsort(s->value, s->count, sizeof *s->value, longer_first);
    return 0;
}

void secrets_release(struct secrets *s)
{
    free(s->value);
    *s = (struct secrets){.count = 0};
}

/* Length of the secret at the start of text, 0 when there is none. *open is set when the text ends within a
 * possible secret. */
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

/* The first position from `at` on where a secret may begin. */
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

/* Appends text with secrets masked; when `more` may follow, stops before a possible beginning of a secret.
 * Returns how many bytes of text were consumed. */
static size_t mask_text(const struct secrets *s, const char *text, size_t len, bool more, struct buf *out)
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
        i += n > 0 ? n : 1;
    }
    return i;
}

void secrets_clean_text(const struct secrets *s, const char *text, size_t len, struct buf *out)
{
    if (!s || s->count == 0)
        buf_add(out, text, len);
    else
        mask_text(s, text, len, false, out);
}

static json_t *clean_string(const struct secrets *s, const json_t *value)
{
    struct buf text;
    size_t len = json_string_length(value);
    buf_init(&text, len * sizeof MASK);
    secrets_clean_text(s, json_string_value(value), len, &text);
    json_t *out = buf_ok(&text) ? json_stringn(buf_str(&text), text.len) : NULL;
    if (!out)
        out = json_string(MASK);
    buf_release(&text);
    return out;
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
        json_object_foreach(value, key, item) json_object_set_new(out, key, clean_value(s, item));
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
    struct buf joined, out;
    buf_init(&joined, s->held.len + len);
    buf_init(&out, (s->held.len + len) * sizeof MASK);
    buf_add(&joined, s->held.data, s->held.len);
    buf_add(&joined, data, len);
    size_t done = mask_text(s->secrets, buf_str(&joined), joined.len, more, &out);
    if (out.len > 0)
        s->sink(s->arg, buf_str(&out), out.len);
    buf_release(&s->held);
    buf_init(&s->held, s->secrets->longest);
    buf_add(&s->held, joined.data ? joined.data + done : NULL, joined.len - done);
    buf_release(&joined);
    buf_release(&out);
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
