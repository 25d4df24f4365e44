#include "harness/plan/shapes.h"

#include "common/contract/shape.h"

enum { SHAPES_MAX = 64, LISTED_MAX = 16 };
enum { BATCH, HEADS, KV_HEADS, HEAD_DIM, DTYPE, CAUSAL };

/* Abbreviations in the names of variants. */
static const char *const abbreviation[SHAPE_DIMENSIONS] = {"b", "h", "kv", "d", "", ""};

static const char *name_of(int dimension)
{
    return shape_keys[dimension].name;
}

/* Appends the values of a dimension: the given value, each value of a list, or the default. A null for
 * kv_heads means as many as heads. */
static int append_values(const struct json_at *shape, int dimension, json_t *out, struct err *err)
{
    const struct key *key = &shape_keys[dimension];
    struct json_at at = json_member(shape, key->name);
    size_t n = json_array_size(at.value);
    if (json_is_array(at.value) && (n < 1 || n > LISTED_MAX))
        return json_fail(&at, err, "expected a value, or an array of 1 to %d of them", LISTED_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        if (key_check(key, &item, err) != 0)
            return -1;
        json_array_append(out, json_array_get(at.value, i));
    }
    if (n > 0)
        return 0;
    if (at.value)
        return key_check(key, &at, err) != 0
                   ? -1
                   : json_array_append(out, json_object_get(shape->value, key->name));
    if (key->required)
        return json_fail(&at, err, "expected the number of query heads, found nothing");
    json_t *usual = key_usual(key);
    return json_array_append_new(out, usual ? usual : json_null());
}

static int add_shape(json_t *shapes, json_t *const *values, const size_t *chosen, const struct json_at *at,
                     struct err *err)
{
    json_t *shape = json_object();
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        json_object_set(shape, name_of(d), json_array_get(values[d], chosen[d]));
    json_t *heads = json_object_get(shape, name_of(HEADS)),
           *kv_heads = json_object_get(shape, name_of(KV_HEADS));
    if (json_is_null(kv_heads))
        json_object_set(shape, name_of(KV_HEADS), heads);
    else if (json_integer_value(heads) % json_integer_value(kv_heads) != 0) {
        json_decref(shape);
        return json_fail(at, err, "kv_heads must divide heads");
    }
    json_array_append_new(shapes, shape);
    if (json_array_size(shapes) > SHAPES_MAX)
        return json_fail(at, err, "expected at most %d shapes", SHAPES_MAX);
    return 0;
}

/* Advances to the next combination, varying the last dimension fastest; false after the last one. */
static bool next_choice(json_t *const *values, size_t *chosen)
{
    for (int d = SHAPE_DIMENSIONS - 1; d >= 0; d--) {
        if (++chosen[d] < json_array_size(values[d]))
            return true;
        chosen[d] = 0;
    }
    return false;
}

static int expand_entry(const struct json_at *at, json_t *shapes, struct err *err)
{
    const char *known[SHAPE_DIMENSIONS + 1] = {NULL};
    json_t *values[SHAPE_DIMENSIONS];
    size_t chosen[SHAPE_DIMENSIONS] = {0};
    for (int d = 0; d < SHAPE_DIMENSIONS; d++) {
        known[d] = name_of(d);
        values[d] = json_array();
    }
    int rc = json_keys(at, known, err);
    for (int d = 0; rc == 0 && d < SHAPE_DIMENSIONS; d++)
        rc = append_values(at, d, values[d], err);
    if (rc == 0) {
        do
            rc = add_shape(shapes, values, chosen, at, err);
        while (rc == 0 && next_choice(values, chosen));
    }
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        json_decref(values[d]);
    return rc;
}

int shapes_read(json_t **out, const struct json_at *at, struct err *err)
{
    if (!json_is_array(at->value) || json_array_size(at->value) == 0)
        return json_fail(at, err,
                         "expected a non-empty array of shapes, such as {\"batch\": [1, 4], \"heads\": 8}");
    int rc = 0;
    *out = json_array();
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at item = json_element(at, i);
        rc |= expand_entry(&item, *out, err);
    }
    return rc;
}

static bool varies(const json_t *shapes, int dimension)
{
    for (size_t i = 1; i < json_array_size(shapes); i++)
        if (!json_equal(json_object_get(json_array_get(shapes, 0), name_of(dimension)),
                        json_object_get(json_array_get(shapes, i), name_of(dimension))))
            return true;
    return false;
}

void shapes_suffix(const json_t *shapes, const json_t *shape, struct buf *out)
{
    bool grid = varies(shapes, BATCH) || varies(shapes, HEADS);
    const json_t *heads = json_object_get(shape, name_of(HEADS));
    for (int d = 0; d < SHAPE_DIMENSIONS; d++) {
        const json_t *v = json_object_get(shape, name_of(d));
        bool grouped = !json_equal(v, heads);
        if (!(d <= HEADS ? grid : varies(shapes, d)) || (d == KV_HEADS && !grouped))
            continue;
        if (d == CAUSAL)
            buf_puts(out, json_is_true(v) ? "causal" : "full");
        else if (d == DTYPE)
            buf_puts(out, json_string_value(v));
        else
            buf_printf(out, "%s%lld", abbreviation[d], (long long)json_integer_value(v));
    }
}
