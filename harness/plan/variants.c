#include "harness/plan/variants.h"

#include "common/base/alloc.h"
#include "common/base/strvec.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "harness/plan/shapes.h"

#include <stdlib.h>
#include <string.h>

enum { ITEM_NAME_MAX = 1 << 16 };

struct reading {
    struct plan_variants *v;
    const struct json_at *root; /* the plan */
    struct json_at list;        /* its "variants" */
    const struct variant_context *c;
    struct err *err;
};

/* A position in the loop over all variants at all points: the variant changes fastest, then the point, then
 * the shape, so that what differs only in the variant stands together. */
struct place {
    size_t shape, point, variant;
};

static size_t shape_count(const struct plan_variants *v)
{
    return v->shapes ? json_array_size(v->shapes) : 1;
}

static size_t point_count(const struct axes *a)
{
    return a->count > 0 ? json_array_size(a->points) : 1;
}

static bool next_place(const struct plan_variants *v, struct place *at)
{
    do {
        bool any = false;
        if (++at->variant == v->own_count) {
            at->variant = 0;
            at->point++;
            for (size_t i = 0; i < v->own_count; i++)
                any = any || at->point < point_count(&v->own[i]);
            if (!any) {
                at->point = 0;
                at->shape++;
            }
        }
    } while (at->shape < shape_count(v) && at->point >= point_count(&v->own[at->variant]));
    return at->shape < shape_count(v);
}

/* Returns "" for an invalid name, which variant_read() refuses. */
static const char *plan_name(const struct reading *r, size_t variant)
{
    const char *name = json_string_value(json_object_get(json_array_get(r->list.value, variant), "name"));
    return name && text_is_name(name) ? name : "";
}

static int check_twice(const struct reading *r, size_t variant)
{
    struct json_at item = json_element(&r->list, variant), name = json_member(&item, "name");
    for (size_t i = 0; i < variant; i++)
        if (*plan_name(r, i) && strcmp(plan_name(r, i), plan_name(r, variant)) == 0)
            return json_fail(&name, r->err, "the variant \"%s\" is listed twice", plan_name(r, variant));
    return 0;
}

static int read_own_axes(struct reading *r, size_t variant)
{
    struct json_at item = json_element(&r->list, variant), axes = json_member(&item, "axes");
    struct axes *own = &r->v->own[variant];
    if (!json_is_object(item.value))
        return json_expected(&item, "an object", r->err);
    if (check_twice(r, variant) == 0 && axes_read(own, &axes, &r->v->axes, r->c->shapes, r->err) == 0)
        return 0;
    axes_release(own);
    return -1;
}

static int read_axes(struct reading *r, size_t n)
{
    struct plan_variants *v = r->v;
    int rc = 0;
    v->own = xcalloc(n, sizeof *v->own);
    v->failed = xcalloc(n, sizeof *v->failed);
    for (; v->own_count < n; v->own_count++) {
        if (read_own_axes(r, v->own_count) == 0)
            continue;
        v->failed[v->own_count] = true;
        rc = -1;
    }
    return rc;
}

static void add_words(json_t *out, const struct axes *a, const json_t *point, const json_t *shape)
{
    char word[AXIS_TEXT_MAX];
    const char *key;
    json_t *value;
    json_object_foreach(json_iterable(shape), key, value)
    {
        json_object_set_new(out, key, json_string(axis_value_word(value, word)));
    }
    for (size_t i = 0; point && i < a->count; i++)
        json_object_set_new(out, a->axis[i].name,
                            json_string(axis_value_word(json_object_get(point, a->axis[i].name), word)));
}

/* Each part of the name is shorter than its limit, so nothing is cut off. The caller frees the name. */
static char *name_at(const struct plan_variants *v, const struct place *at, const char *variant,
                     const json_t *point)
{
    struct buf name = {.max = ITEM_NAME_MAX};
    AUTO(buf_release) struct buf suffix = {.max = ITEM_NAME_MAX};
    buf_puts(&name, variant);
    if (v->shapes && json_array_size(v->shapes) > 1)
        shapes_suffix(v->shapes, json_array_get(v->shapes, at->shape), &suffix);
    if (suffix.len > 0)
        buf_printf(&name, "_%s", buf_str(&suffix));
    buf_clear(&suffix);
    if (point)
        axes_suffix(&v->own[at->variant], point, &suffix);
    if (suffix.len > 0)
        buf_printf(&name, "_%s", buf_str(&suffix));
    return buf_steal(&name);
}

/* Makes the item at a place, except for its variant. Its values are owned by v->kept. */
static struct plan_variant item_at(struct reading *r, const struct place *at)
{
    struct plan_variants *v = r->v;
    const struct axes *own = &v->own[at->variant];
    struct plan_variant item = {.written = json_array_get(r->list.value, at->variant)};
    json_t *words = json_object();
    if (v->shapes)
        item.shape = json_array_get(v->shapes, at->shape);
    if (own->count > 0) {
        item.axes = own;
        item.point = json_array_get(own->points, at->point);
    }
    add_words(words, own, item.point, item.shape);
    json_array_append_new(v->kept, words);
    item.values = words;
    return item;
}

static bool is_left_out(const struct reading *r, const struct place *at, const struct plan_variant *item,
                        const char *name)
{
    const struct condition_cell cell = {plan_name(r, at->variant), name, item->values, 0};
    return conditions_leave_out(&r->v->conditions, &cell);
}

/* A variant has a folder of its name beside the bundle's own files: job.json, events.jsonl, executor.log and
 * so on. */
static bool is_file_of_bundle(const char *name)
{
    static const char *const files[] = {"plan.json",    "job.json",      "node.json",    "events.jsonl",
                                        "summary.json", "manifest.json", "engines.json", "executor.log"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t n = strlen(files[i]);
        if (strncmp(name, files[i], n) == 0 && (!name[n] || strcmp(name + n, ".tmp") == 0))
            return true;
    }
    return false;
}

static int check_item_name(const struct reading *r, const char *name)
{
    const struct plan_variants *v = r->v;
    const struct json_at at = json_member(r->root, v->shapes ? "shapes" : "axes");
    if (!text_is_name(name))
        return json_fail(
            &at, r->err,
            "the name \"%.120s\" is longer than %d characters: use a shorter name for the variant%s", name,
            TEXT_NAME_MAX, plan_variants_have_axes(v) ? ", or give long values a \"name\"" : "");
    if (is_file_of_bundle(name)) {
        const struct json_at list = json_member(r->root, "variants");
        return json_fail(&list, r->err,
                         "a variant is called \"%s\", like a file of the run: use another name", name);
    }
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->item[i].name, name) == 0)
            return json_fail(&at, r->err, "\"%s\" is listed twice", name);
    return 0;
}

/* Reads the variant at a point; without axes, all shapes share one. */
static int read_variant_at(struct reading *r, const struct place *at, struct plan_variant *item)
{
    struct plan_variants *v = r->v;
    struct json_at written = json_element(&r->list, at->variant);
    struct variant *read = &v->read[item->point ? v->read_count++ : at->variant];
    item->variant = read;
    if (!item->point)
        return read->json ? 0 : variant_read(read, &written, r->c, r->err);
    const struct axis_text text = {.axes = item->axes,
                                   .point = item->point,
                                   .variant = plan_name(r, at->variant),
                                   .secrets = r->c->secrets};
    json_t *expanded;
    if (axis_text_variant(&text, &written, &expanded, r->err) != 0)
        return -1;
    json_array_append_new(v->kept, expanded);
    written.value = expanded;
    return variant_read(read, &written, r->c, r->err);
}

/* The store keeps at most AXES_ENCODED_MAX bytes of the axes. */
static int check_axes_size(const struct reading *r, const struct plan_variant *item)
{
    json_auto_t *axes = plan_variant_axes(item);
    const struct json_at at = json_member(r->root, "axes");
    size_t n = axes ? json_dumpb(axes, NULL, 0, JSON_COMPACT) : 0;
    return n <= AXES_ENCODED_MAX
               ? 0
               : json_fail(&at, r->err,
                           "the values of \"%s\" take %zu bytes, the limit is %d: give long ones a \"name\"",
                           item->name, n, AXES_ENCODED_MAX);
}

static int add_item(struct reading *r, const struct place *at)
{
    struct plan_variants *v = r->v;
    struct plan_variant item = item_at(r, at);
    char *name = name_at(v, at, plan_name(r, at->variant), item.point);
    v->names[v->name_count++] = name;
    if (is_left_out(r, at, &item, name))
        return 0;
    item.name = name;
    if (read_variant_at(r, at, &item) != 0 || check_item_name(r, name) != 0 || check_axes_size(r, &item) != 0)
        return -1;
    v->item[v->count++] = item;
    return 0;
}

static size_t places(const struct plan_variants *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->own_count; i++)
        n += point_count(&v->own[i]);
    return n * shape_count(v);
}

/* The number of places that the conditions keep. */
static size_t count_kept(struct reading *r)
{
    size_t kept = 0;
    struct place at = {0};
    do {
        struct plan_variant item = item_at(r, &at);
        AUTO_FREE char *name = name_at(r->v, &at, plan_name(r, at.variant), item.point);
        kept += !is_left_out(r, &at, &item, name);
        json_array_clear(r->v->kept);
    } while (next_place(r->v, &at));
    return kept;
}

/* The values in a condition must exist somewhere in the plan, even at points that are left out. */
static int check_conditions(struct reading *r)
{
    struct plan_variants *v = r->v;
    struct place at = {0};
    size_t n = 0, all = places(v);
    if ((!v->conditions.skip && !v->conditions.only && !v->conditions.smoke) || all > AXES_POINTS_MAX)
        return 0;
    AUTO_FREE struct condition_cell *cells = xcalloc(all, sizeof *cells);
    AUTO(strvec_release) struct strvec names = {0};
    do {
        struct plan_variant item = item_at(r, &at);
        char *name = name_at(v, &at, plan_name(r, at.variant), item.point);
        strvec_take(&names, name);
        cells[n++] = (struct condition_cell){plan_name(r, at.variant), name, item.values, 0};
    } while (next_place(v, &at));
    int rc = conditions_check(r->root, cells, n, r->err);
    json_array_clear(v->kept);
    return rc;
}

static int check_count(const struct reading *r, size_t kept)
{
    const struct plan_variants *v = r->v;
    bool axes = places(v) != v->own_count * shape_count(v);
    const char *responsible = kept > 0 ? axes ? "axes" : "shapes" : v->conditions.skip ? "skip" : "only";
    const struct json_at at = json_member(r->root, responsible);
    if (kept == 0)
        return json_fail(&at, r->err, "leaves nothing to measure");
    if (kept <= LIMIT_VARIANTS)
        return 0;
    if (!axes)
        return json_fail(&at, r->err, "%zu variants at %zu shapes are %zu, the limit is %d", v->own_count,
                         json_array_size(v->shapes), kept, LIMIT_VARIANTS);
    return json_fail(&at, r->err,
                     "%zu variants at all of their points are %zu, the limit is %d: take fewer values, or "
                     "leave points out with \"skip\"",
                     v->own_count, kept, LIMIT_VARIANTS);
}

static int read_conditions(struct reading *r)
{
    struct plan_variants *v = r->v;
    size_t n = 0, most = 2 + SHAPE_DIMENSIONS + (v->own_count + 1) * AXES_MAX;
    AUTO_FREE const char **known =
        xcalloc(most + 1, sizeof *known); /* everything that a condition may name */
    known[n++] = "variant";
    known[n++] = "context";
    for (int d = 0; v->shapes && d < SHAPE_DIMENSIONS; d++)
        known[n++] = shape_keys[d].name;
    for (size_t i = 0; i < v->own_count; i++)
        for (size_t a = 0; a < v->own[i].count; a++)
            known[n++] = v->own[i].axis[a].name;
    return conditions_read(&v->conditions, r->root, known, r->err);
}

static int read_items(struct reading *r)
{
    struct plan_variants *v = r->v;
    struct place at = {0};
    size_t n = places(v), kept = n > AXES_POINTS_MAX ? n : count_kept(r);
    if (check_count(r, kept) != 0)
        return -1;
    v->read = xcalloc(v->own_count + kept, sizeof *v->read);
    v->item = xcalloc(kept, sizeof *v->item);
    v->names = xcalloc(n + 1, sizeof *v->names);
    v->read_count = v->own_count;
    int rc = 0;
    do {
        if (v->failed[at.variant] || add_item(r, &at) == 0)
            continue;
        v->failed[at.variant] = true; /* it would fail in the same way at its other points */
        rc = -1;
    } while (next_place(v, &at));
    return rc;
}

int plan_variants_read(struct plan_variants *v, const struct json_at *root, const struct variant_context *c,
                       json_t *shapes, struct err *err)
{
    struct json_at axes = json_member(root, "axes");
    struct reading r = {.v = v, .root = root, .list = json_member(root, "variants"), .c = c, .err = err};
    size_t n = json_array_size(r.list.value);
    *v = (struct plan_variants){.shapes = shapes, .kept = json_array()};
    if (!json_is_array(r.list.value))
        return json_expected(&r.list, "an array of variants", err);
    if (n == 0)
        return json_fail(&r.list, err, "expected an array of variants, found an empty array");
    if (n > LIMIT_VARIANTS)
        return json_fail(&r.list, err, "expected at most %d entries, found %zu", LIMIT_VARIANTS, n);
    if (axes_read(&v->axes, &axes, NULL, c->shapes, err) != 0)
        return -1;
    int rc = read_axes(&r, n);
    if (read_conditions(&r) != 0 || check_conditions(&r) != 0) {
        v->conditions = (struct conditions){.skip = NULL};
        rc = -1;
    }
    return read_items(&r) != 0 ? -1 : rc;
}

void plan_variants_release(struct plan_variants *v)
{
    for (size_t i = 0; i < v->read_count; i++)
        variant_release(&v->read[i]);
    for (size_t i = 0; i < v->name_count; i++)
        free(v->names[i]);
    for (size_t i = 0; i < v->own_count; i++)
        axes_release(&v->own[i]);
    axes_release(&v->axes);
    free(v->own);
    free(v->failed);
    free(v->read);
    free(v->names);
    free(v->contexts);
    free(v->item);
    json_decref(v->shapes);
    json_decref(v->kept);
    *v = (struct plan_variants){0};
}

bool plan_variants_have_axes(const struct plan_variants *v)
{
    for (size_t i = 0; i < v->own_count; i++)
        if (v->own[i].count > 0)
            return true;
    return false;
}

bool plan_variant_at_point(const struct plan_variant *v)
{
    return v->shape || v->point;
}

bool plan_variant_is(const struct plan_variant *v, const char *word)
{
    return strcmp(v->name, word) == 0 || (plan_variant_at_point(v) && strcmp(v->variant->name, word) == 0);
}

static bool is_kept(const struct plan_variant *v, int64_t context)
{
    bool kept = !v->contexts || context == 0;
    for (size_t i = 0; !kept && i < v->n_contexts; i++)
        kept = v->contexts[i] == context;
    return kept;
}

bool plan_variant_smokes(const struct plan_variants *all, const struct plan_variant *v, int64_t context)
{
    const struct condition_cell cell = {v->variant->name, v->name, v->values, context};
    return conditions_smoke(&all->conditions, &cell);
}

bool plan_variant_runs(const struct plan_variants *all, const struct plan_variant *v, int64_t context)
{
    const struct condition_cell cell = {v->variant->name, v->name, v->values, context};
    return is_kept(v, context) && !conditions_leave_out(&all->conditions, &cell);
}

struct axis_text plan_variant_text(const struct plan_variant *v, const struct secret_names *secrets)
{
    return (struct axis_text){
        .axes = v->axes, .point = v->point, .variant = v->variant->name, .secrets = secrets};
}

json_t *plan_variant_axes(const struct plan_variant *v)
{
    json_t *out = v->point ? axes_encode(v->axes, v->point) : v->shape ? json_object() : NULL;
    if (v->shape)
        json_object_update_missing(out, v->shape);
    return out;
}

size_t plan_variants_move_up(struct plan_variants *v, const char *word, size_t to)
{
    size_t first = to;
    for (size_t i = to; i < v->count; i++) {
        if (!plan_variant_is(&v->item[i], word))
            continue;
        struct plan_variant chosen = v->item[i];
        memmove(v->item + to + 1, v->item + to, (i - to) * sizeof *v->item);
        v->item[to++] = chosen;
    }
    return to - first;
}
