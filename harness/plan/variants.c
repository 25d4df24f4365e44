#include "harness/plan/variants.h"

#include "common/base/problems.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "harness/plan/shapes.h"

#include <stdlib.h>
#include <string.h>

static int read_one(struct plan_variants *v, const struct json_at *at, const struct variant_context *c,
                    struct err *err)
{
    struct json_at name = json_member(at, "name");
    struct variant *one = &v->read[v->read_count++];
    size_t same;
    if (variant_read(one, at, c, err) != 0)
        return -1;
    if (variant_find(v->read, v->read_count - 1, one->name, &same))
        return json_fail(&name, err, "the variant \"%s\" is listed twice", one->name);
    return 0;
}

/* One that failed may lack what the others are held against. */
static void drop_last(struct plan_variants *v)
{
    struct variant *one = &v->read[--v->read_count];
    variant_release(one);
    *one = (struct variant){0};
}

static int read_all(struct plan_variants *v, const struct json_at *at, const struct variant_context *c,
                    struct err *err)
{
    size_t n = json_array_size(at->value), before = problems_count(at);
    if (!json_is_array(at->value))
        return json_expected(at, "an array of variants", err);
    if (n == 0)
        return json_fail(at, err, "expected an array of variants, found an empty array");
    if (n > LIMIT_VARIANTS)
        return json_fail(at, err, "expected at most %d entries, found %zu", LIMIT_VARIANTS, n);
    v->read = calloc(n, sizeof *v->read);
    if (!v->read)
        return err_set(err, ERR_INTERNAL, "%s: no memory", at->file);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(at, i);
        if (read_one(v, &item, c, err) == 0)
            continue;
        if (!problems_go_on(at, err))
            return -1;
        drop_last(v);
    }
    return problems_since(at, before);
}

static char *name_with_shape(const json_t *shapes, const char *variant, const json_t *shape)
{
    struct buf name;
    buf_init(&name, LIMIT_ARG_BYTES);
    buf_puts(&name, variant);
    if (json_array_size(shapes) > 1) {
        buf_putc(&name, '_');
        shapes_suffix(shapes, shape, &name);
    }
    char *text = buf_steal(&name);
    buf_release(&name);
    return text;
}

static int check_name(const struct plan_variants *v, const char *name, const char *file, struct err *err)
{
    if (!name)
        return err_set(err, ERR_INTERNAL, "%s: no memory", file);
    if (!text_is_name(name))
        return err_set(err, ERR_INPUT,
                       "%s: $.shapes: the name \"%.80s\" is too long: use a shorter name for the variant",
                       file, name);
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->item[i].name, name) == 0)
            return err_set(err, ERR_INPUT, "%s: $.shapes: \"%s\" is listed twice", file, name);
    return 0;
}

static int cross_with_shapes(struct plan_variants *v, const char *file, struct err *err)
{
    v->count = v->name_count = 0;
    for (size_t s = 0; s < json_array_size(v->shapes); s++) {
        json_t *shape = json_array_get(v->shapes, s);
        for (size_t i = 0; i < v->read_count; i++) {
            char *name = name_with_shape(v->shapes, v->read[i].name, shape);
            v->names[v->name_count++] = name;
            if (check_name(v, name, file, err) != 0)
                return -1;
            v->item[v->count++] = (struct plan_variant){.name = name, .variant = &v->read[i], .shape = shape};
        }
    }
    return 0;
}

int plan_variants_read(struct plan_variants *v, const struct json_at *at, const struct variant_context *c,
                       json_t *shapes, struct err *err)
{
    *v = (struct plan_variants){.shapes = shapes};
    if (read_all(v, at, c, err) != 0)
        return -1;
    size_t n = v->read_count * (shapes ? json_array_size(shapes) : 1);
    if (n > LIMIT_VARIANTS)
        return err_set(err, ERR_INPUT, "%s: $.shapes: %zu variants at %zu shapes are %zu, the limit is %d",
                       at->file, v->read_count, json_array_size(shapes), n, LIMIT_VARIANTS);
    v->item = calloc(n, sizeof *v->item);
    v->names = calloc(n, sizeof *v->names);
    if (!v->item || !v->names)
        return err_set(err, ERR_INTERNAL, "%s: no memory", at->file);
    if (shapes)
        return cross_with_shapes(v, at->file, err);
    for (; v->count < n; v->count++)
        v->item[v->count] =
            (struct plan_variant){.name = v->read[v->count].name, .variant = &v->read[v->count]};
    return 0;
}

void plan_variants_release(struct plan_variants *v)
{
    for (size_t i = 0; i < v->read_count; i++)
        variant_release(&v->read[i]);
    for (size_t i = 0; i < v->name_count; i++)
        free(v->names[i]);
    free(v->read);
    free(v->names);
    free(v->item);
    json_decref(v->shapes);
    *v = (struct plan_variants){0};
}

bool plan_variant_is(const struct plan_variant *v, const char *word)
{
    return strcmp(v->name, word) == 0 || (v->shape && strcmp(v->variant->name, word) == 0);
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
