/* plan_variants: what a plan measures at each context, in order: its variants, each at every point of the
 * plan's axes and shapes that no condition leaves out, and named after both ("v3_block64_bf16", "v3_b4h1").
 * The variant itself is defined in common/contract/variant.
 */
#pragma once

#include "common/contract/variant.h"
#include "harness/plan/axes.h"
#include "harness/plan/axis_text.h"
#include "harness/plan/conditions.h"

struct plan_variant {
    const char *name;
    const struct variant *variant; /* at this point; has the variant's name in the plan */
    json_t *shape;                 /* borrowed; NULL unless it is a kernel plan */
    const struct axes *axes;       /* borrowed; NULL without axes */
    const json_t *point;           /* of the axes; NULL without axes */
    const json_t *values;          /* borrowed: words of its axes and its shape, by name */
    const json_t *written;         /* borrowed: the variant as in the plan */
    const int64_t *contexts;       /* borrowed: the only contexts, if the run is narrowed; NULL: all */
    size_t n_contexts;
};

struct plan_variants {
    struct plan_variant *item;
    size_t count;
    struct variant *read; /* items point into it */
    size_t read_count;
    struct axes axes; /* the plan's */
    struct axes *own; /* the axes of each variant, including the plan's */
    bool *failed;     /* for each of these, whether it could not be read */
    size_t own_count; /* variants of the plan */
    struct conditions conditions;
    json_t *shapes;    /* NULL unless it is a kernel plan */
    json_t *kept;      /* owns what the items were read from */
    int64_t *contexts; /* owned: the contexts of the items */
    char **names;      /* owned names of items at a point */
    size_t name_count;
};

/* A variant, by its name with its point, at a context. */
struct plan_cell {
    const char *variant;
    int64_t context;
};

/* root: the plan; reads its "variants", "axes", "skip", "only" and "smoke". Takes ownership of shapes, which
 * is NULL unless the plan is a kernel plan. Call plan_variants_release() even after a failure. */
int plan_variants_read(struct plan_variants *v, const struct json_at *root, const struct variant_context *c,
                       json_t *shapes, struct err *err);
void plan_variants_release(struct plan_variants *v);
/* Whether any variant has axes. */
bool plan_variants_have_axes(const struct plan_variants *v);

/* Whether word is the variant's name, with or without its point. */
bool plan_variant_is(const struct plan_variant *v, const char *word);
/* Whether it is one of several points of a variant of the plan. */
bool plan_variant_at_point(const struct plan_variant *v);
/* Whether the variant is measured at this context, or, for 0, at any. */
bool plan_variant_runs(const struct plan_variants *all, const struct plan_variant *v, int64_t context);
/* Whether the variant at this context is of the plan's tier "smoke". */
bool plan_variant_smokes(const struct plan_variants *all, const struct plan_variant *v, int64_t context);
/* What axis_text needs to expand this variant, which must have axes. */
struct axis_text plan_variant_text(const struct plan_variant *v, const struct secret_names *secrets);
/* A new object with the values of the axes and the shape, as the store has them; NULL without any. */
json_t *plan_variant_axes(const struct plan_variant *v);

/* Moves the variants named by word to index `to`, keeping their order; returns their number. */
size_t plan_variants_move_up(struct plan_variants *v, const char *word, size_t to);
