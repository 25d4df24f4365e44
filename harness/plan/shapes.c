/* The shapes of a kernel plan: every variant is measured at each of them. One that is swept over several
 * shapes becomes a variant a shape, called as the shape's changing dimensions say: "v3_b4h1". */
#include "common/base/text.h"
#include "common/contract/subst.h"
#include "harness/plan/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = SUBST_COUNT - SUBST_BATCH, SHAPES_MAX = 64, LISTED_MAX = 16 };

static const int64_t greatest[DIMENSIONS] = {4096, 4096, 4096, 1024, 0, 0};
/* In a variant's name. */
static const char *const abbreviation[DIMENSIONS] = {"b", "h", "kv", "d", "", ""};

static const char *key_of(int dimension)
{
    return subst_name((enum subst_key)(SUBST_BATCH + dimension));
}

static int check_value(const struct json_at *at, int dimension, struct err *err)
{
    const char *text = json_string_value(at->value);
    int64_t n = json_integer_value(at->value);
    if (SUBST_BATCH + dimension == SUBST_CAUSAL)
        return json_is_boolean(at->value) ? 0 : json_fail(at, err, "expected true or false");
    if (SUBST_BATCH + dimension == SUBST_DTYPE)
        return text && (!strcmp(text, "f32") || !strcmp(text, "f16") || !strcmp(text, "bf16"))
                   ? 0
                   : json_fail(at, err, "expected \"f32\", \"f16\" or \"bf16\"");
    if (!json_is_integer(at->value) || n < 1 || n > greatest[dimension])
        return json_fail(at, err, "expected an integer from 1 to %lld", (long long)greatest[dimension]);
    return 0;
}

/* The values that a dimension takes: the one given, or each of the list, or its default (NULL: as heads). */
static int values_of(const struct json_at *shape, int dimension, json_t *out, struct err *err)
{
    static const int64_t usual[DIMENSIONS] = {1, 0, 0, 128, 0, 0};
    struct json_at at = json_member(shape, key_of(dimension));
    size_t n = json_array_size(at.value);
    if (json_is_array(at.value) && (n < 1 || n > LISTED_MAX))
        return json_fail(&at, err, "expected a value, or an array of 1 to %d of them", LISTED_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        if (check_value(&item, dimension, err) != 0)
            return -1;
        json_array_append(out, json_array_get(at.value, i));
    }
    if (n > 0)
        return 0;
    if (at.value)
        return check_value(&at, dimension, err) != 0 ? -1
                                                     : json_array_append(out, (json_t *)(uintptr_t)at.value);
    if (SUBST_BATCH + dimension == SUBST_HEADS)
        return json_fail(&at, err, "expected how many query heads there are, found nothing");
    json_array_append_new(out, SUBST_BATCH + dimension == SUBST_CAUSAL  ? json_true()
                               : SUBST_BATCH + dimension == SUBST_DTYPE ? json_string("f32")
                               : usual[dimension]                       ? json_integer(usual[dimension])
                                                                        : json_null());
    return 0;
}

/* Adds one shape, its dimensions chosen; key/value heads that were not given are as many as heads. */
static int add_shape(json_t *shapes, json_t *const *values, const size_t *chosen, const struct json_at *at,
                     struct err *err)
{
    json_t *shape = json_object();
    for (int d = 0; d < DIMENSIONS; d++)
        json_object_set(shape, key_of(d), json_array_get(values[d], chosen[d]));
    json_t *heads = json_object_get(shape, subst_name(SUBST_HEADS)),
           *kv_heads = json_object_get(shape, subst_name(SUBST_KV_HEADS));
    if (json_is_null(kv_heads))
        json_object_set(shape, subst_name(SUBST_KV_HEADS), heads);
    else if (json_integer_value(heads) % json_integer_value(kv_heads) != 0) {
        json_decref(shape);
        return json_fail(at, err, "kv_heads must divide heads");
    }
    json_array_append_new(shapes, shape);
    if (json_array_size(shapes) > SHAPES_MAX)
        return json_fail(at, err, "expected at most %d shapes", SHAPES_MAX);
    return 0;
}

/* Counts through all combinations, the last dimension fastest; false after the last one. */
static bool next_choice(json_t *const *values, size_t *chosen)
{
    for (int d = DIMENSIONS - 1; d >= 0; d--) {
        if (++chosen[d] < json_array_size(values[d]))
            return true;
        chosen[d] = 0;
    }
    return false;
}

static int cross(const struct json_at *at, json_t *shapes, struct err *err)
{
    const char *known[DIMENSIONS + 1] = {NULL};
    json_t *values[DIMENSIONS];
    size_t chosen[DIMENSIONS] = {0};
    for (int d = 0; d < DIMENSIONS; d++) {
        known[d] = key_of(d);
        values[d] = json_array();
    }
    int rc = json_keys(at, known, err);
    for (int d = 0; rc == 0 && d < DIMENSIONS; d++)
        rc = values_of(at, d, values[d], err);
    if (rc == 0) {
        do
            rc = add_shape(shapes, values, chosen, at, err);
        while (rc == 0 && next_choice(values, chosen));
    }
    for (int d = 0; d < DIMENSIONS; d++)
        json_decref(values[d]);
    return rc;
}

int plan_load_shapes(struct plan *p, const struct json_at *root, struct err *err)
{
    const char *kind = "prefill";
    struct json_at kind_at = json_member(root, "kind"), at = json_member(root, "shapes");
    if (json_get_str_def(root, "kind", &kind, err) != 0)
        return -1;
    if (strcmp(kind, "kernel") != 0 && strcmp(kind, "prefill") != 0)
        return json_fail(&kind_at, err, "expected \"prefill\" or \"kernel\", found \"%.80s\"", kind);
    if (strcmp(kind, "kernel") != 0)
        return at.value ? json_fail(&at, err, "only a plan of the kind \"kernel\" has shapes") : 0;
    if (!json_is_array(at.value) || json_array_size(at.value) == 0)
        return json_fail(&at, err,
                         "expected a non-empty array of shapes, such as {\"batch\": [1, 4], \"heads\": 8}");
    p->shapes = json_array();
    for (size_t i = 0; i < json_array_size(at.value); i++) {
        struct json_at item = json_element(&at, i);
        if (cross(&item, p->shapes, err) != 0)
            return -1;
    }
    return 0;
}

static bool changes(const json_t *shapes, int dimension)
{
    for (size_t i = 1; i < json_array_size(shapes); i++)
        if (!json_equal(json_object_get(json_array_get(shapes, 0), key_of(dimension)),
                        json_object_get(json_array_get(shapes, i), key_of(dimension))))
            return true;
    return false;
}

/* "b4h1", "bf16": what tells the shape from the plan's others; batch and heads stand together, and kv_heads
 * only where they are not as many as heads. */
static void suffix(const json_t *shapes, const json_t *shape, struct buf *out)
{
    bool grid = changes(shapes, 0) || changes(shapes, 1);
    for (int d = 0; d < DIMENSIONS; d++) {
        const json_t *v = json_object_get(shape, key_of(d));
        enum subst_key key = (enum subst_key)(SUBST_BATCH + d);
        bool grouped = !json_equal((json_t *)(uintptr_t)v, json_object_get(shape, subst_name(SUBST_HEADS)));
        if (!(key <= SUBST_HEADS ? grid : changes(shapes, d)) || (key == SUBST_KV_HEADS && !grouped))
            continue;
        if (key == SUBST_CAUSAL)
            buf_puts(out, json_is_true(v) ? "causal" : "full");
        else if (key == SUBST_DTYPE)
            buf_puts(out, json_string_value(v));
        else
            buf_printf(out, "%s%lld", abbreviation[d], (long long)json_integer_value(v));
    }
}

static int add_shaped(struct plan *p, struct plan_variant *out, const struct plan_variant *kernel,
                      size_t shape, struct err *err)
{
    struct buf name;
    *out = *kernel;
    out->kernel = kernel->name;
    out->shape = json_array_get(p->shapes, shape);
    buf_init(&name, LIMIT_ARG_BYTES);
    buf_puts(&name, kernel->name);
    if (json_array_size(p->shapes) > 1) {
        buf_putc(&name, '_');
        suffix(p->shapes, out->shape, &name);
    }
    out->name = out->own_name = buf_steal(&name);
    buf_release(&name);
    if (!out->name)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    if (!text_is_name(out->name))
        return err_set(err, ERR_INPUT,
                       "%s: $.shapes: the name \"%.80s\" is too long: shorten that of the variant", p->file,
                       out->name);
    for (const struct plan_variant *v = p->shaped; v < out; v++)
        if (strcmp(v->name, out->name) == 0)
            return err_set(err, ERR_INPUT, "%s: $.shapes: \"%s\" is there twice", p->file, out->name);
    return 0;
}

int plan_apply_shapes(struct plan *p, struct err *err)
{
    size_t shapes = json_array_size(p->shapes), n = p->n_variants * shapes;
    if (!p->shapes)
        return 0;
    if (n > LIMIT_VARIANTS)
        return err_set(err, ERR_INPUT, "%s: $.shapes: %zu variants at %zu shapes are %zu, the limit is %d",
                       p->file, p->n_variants, shapes, n, LIMIT_VARIANTS);
    p->shaped = calloc(n, sizeof *p->shaped);
    if (!p->shaped)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    for (size_t s = 0; s < shapes; s++)
        for (size_t v = 0; v < p->n_variants; v++)
            if (add_shaped(p, &p->shaped[p->n_shaped++], &p->variants[v], s, err) != 0)
                return -1;
    free(p->variants);
    p->variants = calloc(n, sizeof *p->variants);
    if (!p->variants)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    memcpy(p->variants, p->shaped, n * sizeof *p->variants);
    p->n_variants = n;
    return 0;
}

void plan_release_shapes(struct plan *p)
{
    for (size_t i = 0; i < p->n_shaped; i++)
        free(p->shaped[i].own_name);
    free(p->shaped);
    json_decref(p->shapes);
}
