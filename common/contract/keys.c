#include "common/contract/keys.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <string.h>

enum { KNOWN_MAX = 96 };

const char *key_name(const struct key *k, enum document in)
{
    return in == IN_JOB && k->job_name ? k->job_name : k->name;
}

static bool belongs_to(const struct key *k, enum document in, const char *object)
{
    const char *own = in == IN_PLAN ? k->object : NULL;
    if (!(k->in & in))
        return false;
    return object ? own && strcmp(own, object) == 0 : !own;
}

static int word_index(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Lists the words as "a", "b" or "c". */
static int unknown_word(const struct key *k, const struct json_at *at, const char *found, struct err *err)
{
    AUTO(buf_release) struct buf list = {.max = ERR_MSG_MAX};
    for (size_t i = 0; k->words[i]; i++)
        buf_printf(&list, "%s\"%s\"", i == 0 ? "" : k->words[i + 1] ? ", " : " or ", k->words[i]);
    return json_fail(at, err, "expected %s, found \"%.80s\"", buf_str(&list), found);
}

static int check_name(const struct key *k, const struct json_at *at, const char *text, struct err *err)
{
    if ((k->or_empty && !*text) || (text_is_name(text) && strlen(text) <= (size_t)k->most))
        return 0;
    return json_fail(
        at, err, "expected a name of letters, digits, '.', '_' and '-', at most %zu long, found \"%.80s\"",
        (size_t)k->most, text);
}

static int check_text(const struct key *k, const struct json_at *at, const char *text, struct err *err)
{
    double len = (double)json_string_length(at->value);
    if (len >= k->least && len <= k->most && (!k->accepts || k->accepts(text)))
        return 0;
    if (k->expected)
        return json_fail(at, err, "expected %s, found \"%.80s\"", k->expected, text);
    if (k->least <= 0)
        return json_fail(at, err, "expected at most %zu bytes, found %zu", (size_t)k->most, (size_t)len);
    return json_fail(at, err, "expected %zu to %zu bytes, found %zu", (size_t)k->least, (size_t)k->most,
                     (size_t)len);
}

static int check_string(const struct key *k, const struct json_at *at, struct err *err)
{
    const char *text = json_string_value(at->value);
    if (!text)
        return json_expected(at, "a string", err);
    if (k->kind == KEY_CHOICE || k->kind == KEY_WORD)
        return word_index(k->words, text) >= 0 ? 0 : unknown_word(k, at, text, err);
    if (k->kind == KEY_NAME)
        return check_name(k, at, text, err);
    if (k->kind == KEY_TEXT)
        return check_text(k, at, text, err);
    if (strcmp(text, k->text) == 0)
        return 0;
    return k->expected
               ? json_fail(at, err, "expected \"%s\", %s, found \"%.80s\"", k->text, k->expected, text)
               : json_fail(at, err, "expected \"%s\", found \"%.80s\"", k->text, text);
}

static int check_count(const struct key *k, const struct json_at *at, struct err *err)
{
    int64_t n = json_integer_value(at->value);
    if (!json_is_integer(at->value))
        return json_expected(at, "an integer", err);
    if (n >= (int64_t)k->least && n <= (int64_t)k->most)
        return 0;
    return json_fail(at, err, "expected an integer from %lld to %lld, found %lld", (long long)k->least,
                     (long long)k->most, (long long)n);
}

static int check_number(const struct key *k, const struct json_at *at, struct err *err)
{
    double v = json_number_value(at->value);
    if (!json_is_number(at->value))
        return json_expected(at, "a number", err);
    if (isfinite(v) && v >= k->least && v <= k->most)
        return 0;
    return json_fail(at, err, "expected a number from %g to %g, found %g", k->least, k->most, v);
}

int key_check(const struct key *k, const struct json_at *at, struct err *err)
{
    switch (k->kind) {
    case KEY_CONST:
    case KEY_CHOICE:
    case KEY_WORD:
    case KEY_NAME:
    case KEY_TEXT:
        return check_string(k, at, err);
    case KEY_FLAG:
        return json_is_boolean(at->value) ? 0 : json_expected(at, "true or false", err);
    case KEY_COUNT:
        return check_count(k, at, err);
    case KEY_NUMBER:
        return check_number(k, at, err);
    case KEY_PART:
        return 0;
    }
    return 0;
}

/* json: a checked value, or NULL for the default. */
static void store_value(const struct key *k, const json_t *json, void *out)
{
    if (k->kind == KEY_CONST || k->kind == KEY_PART)
        return; /* a table of such rows has no structure: out may be NULL */
    void *member = (char *)out + k->offset;
    switch (k->kind) {
    case KEY_FLAG:
        *(bool *)member = json ? json_is_true(json) : k->usual != 0;
        return;
    case KEY_COUNT:
        *(int64_t *)member = json ? json_integer_value(json) : (int64_t)k->usual;
        return;
    case KEY_NUMBER:
        *(double *)member = json ? json_number_value(json) : k->usual;
        return;
    case KEY_CHOICE:
        *(int *)member = json ? word_index(k->words, json_string_value(json)) : (int)k->usual;
        return;
    case KEY_WORD:
    case KEY_NAME:
    case KEY_TEXT:
        *(const char **)member = json ? json_string_value(json) : k->text;
        return;
    case KEY_CONST:
    case KEY_PART:
        return;
    }
}

/* Several rows may share a name. */
static size_t add_known(const char **known, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i], word) == 0)
            return n;
    if (n < KNOWN_MAX)
        known[n++] = word;
    return n;
}

/* object: the object of a plan that at is; NULL for the document itself. */
static int check_known(const struct json_at *at, enum document in, const struct key_table *tables, size_t n,
                       const char *object, struct err *err)
{
    const char *known[KNOWN_MAX + 1];
    size_t count = 0;
    for (size_t t = 0; t < n; t++) {
        for (const struct key *k = tables[t].rows; k->name; k++) {
            if (belongs_to(k, in, object))
                count = add_known(known, count, key_name(k, in));
            else if (!object && in == IN_PLAN && k->in & IN_PLAN)
                count = add_known(known, count, k->object);
        }
    }
    known[count] = NULL;
    return json_keys(at, known, err);
}

static int read_key(const struct key *k, const struct json_at *obj, enum document in, void *out,
                    struct err *err)
{
    struct json_at at = json_member(obj, key_name(k, in));
    if (!at.value && !(k->required && k->kind != KEY_PART))
        return 0;
    if (key_check(k, &at, err) != 0)
        return -1;
    store_value(k, at.value, out);
    return 0;
}

static int read_rows(const struct json_at *at, enum document in, const struct key_table *table,
                     const struct key_table *tables, size_t n, struct err *err)
{
    const char *checked = NULL;
    int rc = 0;
    for (const struct key *k = table->rows; k->name; k++) {
        if (!(k->in & in))
            continue;
        if (belongs_to(k, in, NULL)) {
            rc |= read_key(k, at, in, table->out, err);
            continue;
        }
        struct json_at object = json_member(at, k->object);
        if (!object.value)
            continue;
        if (!checked || strcmp(checked, k->object) != 0)
            rc |= check_known(&object, in, tables, n, k->object, err);
        checked = k->object;
        if (json_is_object(object.value))
            rc |= read_key(k, &object, in, table->out, err);
    }
    return rc;
}

int keys_read(const struct json_at *at, enum document in, const struct key_table *tables, size_t n,
              struct err *err)
{
    for (size_t t = 0; t < n; t++)
        for (const struct key *k = tables[t].rows; k->name; k++)
            if (k->in & in)
                store_value(k, NULL, tables[t].out);
    int rc = check_known(at, in, tables, n, NULL, err);
    for (size_t t = 0; t < n && json_is_object(at->value); t++)
        rc |= read_rows(at, in, &tables[t], tables, n, err);
    return rc;
}

static json_t *encode_value(const struct key *k, const void *values)
{
    const void *member = (const char *)values + k->offset;
    switch (k->kind) {
    case KEY_FLAG:
        return json_boolean(*(const bool *)member);
    case KEY_COUNT:
        return json_integer((json_int_t) * (const int64_t *)member);
    case KEY_NUMBER:
        return json_real(*(const double *)member);
    case KEY_CHOICE:
        return json_string(k->words[*(const int *)member]);
    case KEY_WORD:
    case KEY_NAME:
    case KEY_TEXT:
        return json_string(*(const char *const *)member);
    case KEY_CONST:
        return json_string(k->text);
    case KEY_PART:
        return NULL;
    }
    return NULL;
}

static bool has_text(const struct key *k)
{
    return k->kind == KEY_WORD || k->kind == KEY_NAME || k->kind == KEY_TEXT;
}

void keys_encode_job(json_t *job, const struct key *rows, const void *values)
{
    for (const struct key *k = rows; k->name; k++) {
        const void *member = (const char *)values + k->offset;
        if (!(k->in & IN_JOB) || k->kind == KEY_PART || (has_text(k) && !*(const char *const *)member))
            continue;
        json_object_set_new(job, key_name(k, IN_JOB), encode_value(k, values));
    }
}

json_t *key_usual(const struct key *k)
{
    struct err ignored = {0};
    json_t *value = NULL;
    if (k->required || k->kind == KEY_CONST || k->kind == KEY_PART)
        return NULL;
    if (has_text(k))
        value = k->text ? json_string(k->text) : NULL;
    else if (k->kind == KEY_FLAG)
        value = json_boolean(k->usual != 0);
    else if (k->kind == KEY_CHOICE)
        value = json_string(k->words[(int)k->usual]);
    else if (k->kind == KEY_COUNT || k->usual == floor(k->usual))
        value = json_integer((json_int_t)k->usual);
    else
        value = json_real(k->usual);
    struct json_at at = json_root(value, "");
    if (value && key_check(k, &at, &ignored) == 0)
        return value;
    json_decref(value);
    return NULL;
}
