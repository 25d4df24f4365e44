/* plan_variants: what a plan measures at each context, in order: its variants, each at every point of the
 * plan's axes and shapes that no condition leaves out, and named after both ("v3_block64_bf16", "v3_b4h1").
 * For a variant itself see common/contract/variant.
 */
#pragma once

#include "common/contract/variant.h"
#include "harness/plan/axes.h"
#include "harness/plan/axis_text.h"
#include "harness/plan/conditions.h"

struct plan_variant {
    const char *name;
    const struct variant *variant; /* at this point; its name is that in the plan */
    json_t *shape;                 /* borrowed; of a kernel plan, else NULL */
    const struct axes *axes;       /* borrowed; NULL without axes */
    const json_t *point;           /* of the axes; NULL without them */
    const json_t *values;          /* borrowed: the words of its axes and its shape, by name */
    const json_t *written;         /* borrowed: the variant in the plan */
    const int64_t *contexts;       /* borrowed: the only ones, of a run of less than the plan; NULL: all */
    size_t n_contexts;
};

struct plan_variants {
    struct plan_variant *item;
    size_t count;
    struct variant *read; /* items point into it */
    size_t read_count;
    struct axes axes; /* the plan's */
    struct axes *own; /* with those of each variant */
    bool *failed;     /* of these: which could not be read */
    size_t own_count; /* variants of the plan */
    struct conditions conditions;
    json_t *shapes;    /* of a kernel plan, else NULL */
    json_t *kept;      /* owns what the items were read from */
    int64_t *contexts; /* owned: those of the items */
    char **names;      /* owned names of items at a point */
    size_t name_count;
};

/* A variant, by its name with its point, at a context. */
struct plan_cell {
    const char *variant;
    int64_t context;
};

/* root: the plan; reads its "variants", "axes", "skip" and "only". Takes ownership of shapes, which is NULL
 * unless the plan is a kernel plan. Call plan_variants_release() even after a failure. */
int plan_variants_read(struct plan_variants *v, const struct json_at *root, const struct variant_context *c,
                       json_t *shapes, struct err *err);
void plan_variants_release(struct plan_variants *v);
/* Whether any variant has axes. */
bool plan_variants_have_axes(const struct plan_variants *v);

/* Whether word is the variant's name, with or without its point. */
bool plan_variant_is(const struct plan_variant *v, const char *word);
/* Whether it is one of several points of the plan's variant. */
bool plan_variant_at_point(const struct plan_variant *v);
/* Whether the variant is measured at this context, or with 0 at any. */
bool plan_variant_runs(const struct plan_variants *all, const struct plan_variant *v, int64_t context);
/* For axis_text; v must have axes. */
struct axis_text plan_variant_text(const struct plan_variant *v, const struct secret_names *secrets);
/* The values of the axes and of the shape as the store has them; NULL without any. A new object. */
json_t *plan_variant_axes(const struct plan_variant *v);

/* Moves the variants named by word up to index `to`, keeping their order; returns their number. */
size_t plan_variants_move_up(struct plan_variants *v, const char *word, size_t to);
