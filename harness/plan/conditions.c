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
            /* Conditions compare contexts as integers, so a string such as "4096" would never match. */
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
    struct json_at skip = json_member(root, "skip"), only = json_member(root, "only"),
                   smoke = json_member(root, "smoke");
    *c = (struct conditions){.skip = NULL};
    return read_list(&c->skip, &skip, known, err) != 0 || read_list(&c->only, &only, known, err) != 0
               ? -1
               : read_list(&c->smoke, &smoke, known, err);
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

/* unknown: the result of a condition on the context if the cell stands for all contexts. */
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

static bool is_anywhere(const struct condition_cell *cells, size_t n, const char *key, const json_t *value)
{
    if (strcmp(key, "context") == 0)
        return true; /* --contexts may select any context */
    for (size_t i = 0; i < n; i++)
        /* A variant whose name is missing might be the one that is meant. */
        if ((strcmp(key, "variant") == 0 && !*cells[i].variant) || is_value(&cells[i], key, value))
            return true;
    return false;
}

/* at: the value that a condition gives for a key, or an array of values. */
static int check_values(const struct json_at *at, const char *key, const struct condition_cell *cells,
                        size_t n, struct err *err)
{
    size_t values = json_is_array(at->value) ? json_array_size(at->value) : 1;
    for (size_t i = 0; i < values; i++) {
        char own[AXIS_TEXT_MAX];
        const json_t *value = json_is_array(at->value) ? json_array_get(at->value, i) : at->value;
        if (!is_anywhere(cells, n, key, value))
            return json_fail(at, err,
                             strcmp(key, "variant") == 0 ? "no variant is called \"%s\""
                                                         : "no point has the value \"%s\"",
                             axis_value_word(value, own));
    }
    return 0;
}

static int check_list(const struct json_at *list, const struct condition_cell *cells, size_t n,
                      struct err *err)
{
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        struct json_at condition = json_element(list, i);
        const char *key;
        json_t *value;
        json_object_foreach(json_iterable(condition.value), key, value)
        {
            struct json_at at = json_member(&condition, key);
            if (check_values(&at, key, cells, n, err) != 0)
                return -1;
        }
    }
    return 0;
}

int conditions_check(const struct json_at *root, const struct condition_cell *cells, size_t n,
                     struct err *err)
{
    static const char *const lists[] = {"skip", "only", "smoke"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct json_at list = json_member(root, lists[i]);
        if (check_list(&list, cells, n, err) != 0)
            return -1;
    }
    return 0;
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
    return any_met(c->skip, cell, false) || (c->only && !any_met(c->only, cell, true)) ||
           (c->only_smoke && !conditions_smoke(c, cell));
}

bool conditions_smoke(const struct conditions *c, const struct condition_cell *cell)
{
    return any_met(c->smoke, cell, true);
}
