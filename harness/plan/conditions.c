#include "harness/plan/conditions.h"

#include "common/contract/proto.h"
#include "harness/plan/axes.h"

#include <string.h>

enum { CONDITIONS_MAX = 256 };

static int check_condition(const struct json_at *at, const char *const *known, struct err *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(at->value) || json_object_size(at->value) == 0)
        return json_expected(at, "an object of at least one axis, with a value or an array of values", err);
    if (json_keys(at, known, err) != 0)
        return -1;
    json_object_foreach(json_iterable(at->value), key, value)
    {
        struct json_at item = json_member(at, key);
        bool of_context = strcmp(key, "context") == 0;
        size_t n = json_is_array(value) ? json_array_size(value) : 1;
        for (size_t i = 0; i < n; i++) {
            const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
            if (json_is_object(one) || json_is_array(one) || json_is_null(one))
                return json_expected(&item, "a value, or an array of values", err);
            /* "4096" would be the context of no cell. */
            if (of_context && !json_is_integer(one))
                return json_expected(&item, "an integer, or an array of them", err);
        }
        if (n == 0 || n > LIMIT_CONTEXTS)
            return json_fail(&item, err, "expected a value, or an array of 1 to %d of them", LIMIT_CONTEXTS);
    }
    return 0;
}

static int read_list(const json_t **out, const struct json_at *at, const char *const *known, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || n < 1 || n > CONDITIONS_MAX)
        return json_fail(at, err, "expected an array of 1 to %d conditions, such as {\"block\": 128}",
                         CONDITIONS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(at, i);
        if (check_condition(&item, known, err) != 0)
            return -1;
    }
    *out = at->value;
    return 0;
}

int conditions_read(struct conditions *c, const struct json_at *root, const char *const *known,
                    struct err *err)
{
    struct json_at skip = json_member(root, "skip"), only = json_member(root, "only");
    *c = (struct conditions){.skip = NULL};
    return read_list(&c->skip, &skip, known, err) != 0 ? -1 : read_list(&c->only, &only, known, err);
}

static bool is_word(const json_t *value, const char *word)
{
    char own[AXIS_TEXT_MAX];
    return word && strcmp(axis_value_word(value, own), word) == 0;
}

static bool is_value(const struct condition_cell *cell, const char *key, const json_t *value)
{
    if (strcmp(key, "variant") == 0)
        return is_word(value, cell->variant) || is_word(value, cell->name);
    if (strcmp(key, "context") == 0)
        return cell->context && json_integer_value(value) == cell->context;
    return is_word(value, json_string_value(json_object_get(cell->values, key)));
}

static bool matches(const struct condition_cell *cell, const char *key, const json_t *value)
{
    size_t i;
    json_t *one;
    if (!json_is_array(value))
        return is_value(cell, key, value);
    json_array_foreach(value, i, one)
    {
        if (is_value(cell, key, one))
            return true;
    }
    return false;
}

/* unknown: what a condition on the context says of a cell at any context. */
static bool is_met(const json_t *condition, const struct condition_cell *cell, bool unknown)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_iterable(condition), key, value)
    {
        bool open = strcmp(key, "context") == 0 && !cell->context;
        if (open ? !unknown : !matches(cell, key, value))
            return false;
    }
    return true;
}

/* A value of a condition. */
struct one_value {
    size_t index; /* among all */
    const char *list, *key;
    size_t condition; /* of the list */
    const json_t *value;
};

/* Ends at the first value of which `visit` is true, and is true then. */
static bool visit_list(const char *name, const json_t *list, size_t *index,
                       bool (*visit)(void *arg, const struct one_value *v), void *arg)
{
    struct one_value v = {.list = name};
    json_t *condition, *value;
    json_array_foreach(list, v.condition, condition)
    {
        json_object_foreach(condition, v.key, value)
        {
            size_t n = json_is_array(value) ? json_array_size(value) : 1;
            for (size_t i = 0; i < n; i++) {
                v.index = (*index)++;
                v.value = json_is_array(value) ? json_array_get(value, i) : value;
                if (visit(arg, &v))
                    return true;
            }
        }
    }
    return false;
}

static bool visit_values(const struct conditions *c, size_t *count,
                         bool (*visit)(void *arg, const struct one_value *v), void *arg)
{
    *count = 0;
    return visit_list("skip", c->skip, count, visit, arg) || visit_list("only", c->only, count, visit, arg);
}

static bool pass(void *arg, const struct one_value *v)
{
    (void)arg;
    (void)v;
    return false;
}

size_t conditions_count(const struct conditions *c)
{
    size_t count;
    visit_values(c, &count, pass, NULL);
    return count;
}

struct marking {
    const struct condition_cell *cell;
    bool *seen;
};

static bool mark(void *arg, const struct one_value *v)
{
    const struct marking *m = arg;
    /* A variant without a name may be the one that is meant. */
    bool open = strcmp(v->key, "context") == 0 || (strcmp(v->key, "variant") == 0 && !*m->cell->variant);
    m->seen[v->index] |= open || is_value(m->cell, v->key, v->value);
    return false;
}

void conditions_mark(const struct conditions *c, const struct condition_cell *cell, bool *seen)
{
    struct marking m = {.cell = cell};
    size_t count;
    m.seen = seen;
    visit_values(c, &count, mark, &m);
}

struct checking {
    const struct json_at *root;
    const bool *seen;
    struct err *err;
};

static bool is_nowhere(void *arg, const struct one_value *v)
{
    const struct checking *k = arg;
    char own[AXIS_TEXT_MAX];
    if (k->seen[v->index])
        return false;
    const struct json_at list = json_member(k->root, v->list), item = json_element(&list, v->condition),
                         at = json_member(&item, v->key);
    const char *word = axis_value_word(v->value, own);
    if (strcmp(v->key, "variant") == 0)
        json_fail(&at, k->err, "no variant is called \"%s\"", word);
    else
        json_fail(&at, k->err, "no point has the value \"%s\"", word);
    return true;
}

int conditions_check(const struct conditions *c, const struct json_at *root, const bool *seen,
                     struct err *err)
{
    struct checking k = {.root = root, .seen = seen, .err = err};
    size_t count;
    return visit_values(c, &count, is_nowhere, &k) ? -1 : 0;
}

static bool any_met(const json_t *list, const struct condition_cell *cell, bool unknown)
{
    size_t i;
    json_t *condition;
    json_array_foreach(list, i, condition)
    {
        if (is_met(condition, cell, unknown))
            return true;
    }
    return false;
}

bool conditions_leave_out(const struct conditions *c, const struct condition_cell *cell)
{
    return any_met(c->skip, cell, false) || any_met(c->dropped, cell, false) ||
           (c->only && !any_met(c->only, cell, true));
}
