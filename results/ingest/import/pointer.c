#include "results/ingest/import/pointer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_MAX = 256, PLACE_MAX = 1024 };

/* Reads and unescapes the next token after a '/'. False at the end or if it is not a pointer. */
static bool next_token(const char **p, char *out)
{
    size_t n = 0;
    if (**p != '/')
        return false;
    for (++*p; **p && **p != '/'; ++*p) {
        char c = **p;
        if (c == '~' && ((*p)[1] == '0' || (*p)[1] == '1'))
            c = *++*p == '0' ? '~' : '/';
        if (n + 1 == TOKEN_MAX)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

static bool has_text(const json_t *value, const char *text)
{
    char number[32];
    if (json_is_string(value))
        return strcmp(json_string_value(value), text) == 0;
    if (!json_is_integer(value))
        return false;
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    return strcmp(number, text) == 0;
}

/* The token is "[key=value]". */
static json_t *select_element(const json_t *array, char *token)
{
    size_t i, len = strlen(token);
    char *equals = strchr(token, '=');
    json_t *element;
    if (!equals || token[len - 1] != ']')
        return NULL;
    token[len - 1] = '\0';
    *equals = '\0';
    json_array_foreach(array, i, element)
    {
        if (has_text(json_object_get(element, token + 1), equals + 1))
            return element;
    }
    return NULL;
}

static json_t *step(json_t *at, char *token, size_t index)
{
    if (json_is_object(at))
        return json_object_get(at, token);
    if (!json_is_array(at))
        return NULL;
    if (strcmp(token, "#") == 0)
        return json_array_get(at, index);
    if (token[0] == '[')
        return select_element(at, token);
    char *end;
    unsigned long i = strtoul(token, &end, 10);
    return *token && !*end ? json_array_get(at, i) : NULL;
}

json_t *pointer_find(json_t *root, const char *pointer, size_t index)
{
    char token[TOKEN_MAX];
    json_t *at = root;
    while (at && *pointer) {
        if (!next_token(&pointer, token))
            return NULL;
        at = step(at, token, index);
    }
    return at;
}

struct each {
    pointer_fn *fn;
    void *arg;
};

/* Where a walk is: the value, what it was reached through, and the rest of the pointer. */
struct position {
    struct pointer_match at;
    const char *rest;
};

static int each_from(const struct each *e, struct position at, struct err *err);

/* element: a match of "*", whose token is appended to the place. */
static int each_one(const struct each *e, const struct position *at, json_t *element, const char *token,
                    const char *key, struct err *err)
{
    char there[PLACE_MAX];
    snprintf(there, sizeof there, "%s/%s", at->at.place, token);
    const struct position next = {
        .at = {.value = element, .parent = *at->rest ? element : at->at.parent, .place = there, .key = key},
        .rest = at->rest};
    return each_from(e, next, err);
}

static bool has_members_only(json_t *object)
{
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        if (!json_is_object(member) && !json_is_array(member))
            return false;
    }
    return json_object_size(object) > 0;
}

static int each_member(const struct each *e, const struct position *at, struct err *err)
{
    const char *key;
    json_t *member;
    if (!has_members_only(at->at.value))
        return each_from(e, *at, err);
    json_object_foreach(at->at.value, key, member)
    {
        if (each_one(e, at, member, key, key, err) != 0)
            return -1;
    }
    return 0;
}

static int each_element(const struct each *e, const struct position *at, struct err *err)
{
    size_t i;
    json_t *element;
    if (json_is_object(at->at.value))
        return each_member(e, at, err);
    if (!json_is_array(at->at.value))
        return err_set(err, ERR_INPUT, "%s: expected an array", *at->at.place ? at->at.place : "/");
    json_array_foreach(at->at.value, i, element)
    {
        char token[32];
        snprintf(token, sizeof token, "%zu", i);
        if (each_one(e, at, element, token, NULL, err) != 0)
            return -1;
    }
    return 0;
}

static int each_from(const struct each *e, struct position at, struct err *err)
{
    char token[TOKEN_MAX], there[PLACE_MAX];
    snprintf(there, sizeof there, "%s", at.at.place);
    at.at.place = there;
    while (*at.rest) {
        if (!next_token(&at.rest, token))
            return err_set(err, ERR_INPUT, "%s: not a JSON pointer", at.rest);
        if (strcmp(token, "*") == 0)
            return each_element(e, &at, err);
        size_t n = strlen(there);
        snprintf(there + n, sizeof there - n, "/%s", token);
        at.at.value = step(at.at.value, token, 0);
        if (!at.at.value)
            return err_set(err, ERR_INPUT, "%s: not there", there);
    }
    return e->fn(&at.at, e->arg, err);
}

int pointer_each(json_t *root, const char *pointer, pointer_fn *fn, void *arg, struct err *err)
{
    const struct each e = {fn, arg};
    const struct position start = {.at = {.value = root, .parent = root, .place = ""}, .rest = pointer};
    return each_from(&e, start, err);
}
