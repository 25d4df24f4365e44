/* plan_variants: the variants of a plan, in the order in which they are measured. A kernel plan has one for
 * each pair of variant and shape, named after both ("v3_b4h1"). For a variant itself see
 * common/contract/variant.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_VARIANTS_H
#define KERNSWEEP_HARNESS_PLAN_VARIANTS_H

#include "common/contract/variant.h"

struct plan_variant {
    const char *name;
    const struct variant *variant; /* as in the plan */
    json_t *shape;                 /* borrowed; of a kernel plan, else NULL */
};

struct plan_variants {
    struct plan_variant *item;
    size_t count;
    struct variant *read; /* from the file; items point into it */
    size_t read_count;
    json_t *shapes; /* of a kernel plan, else NULL */
    char **names;   /* owned names of items with a shape */
    size_t name_count;
};

/* at: "variants". Takes ownership of shapes, which is NULL unless the plan is a kernel plan. Call
 * plan_variants_release() even after a failure. */
int plan_variants_read(struct plan_variants *v, const struct json_at *at, const struct variant_context *c,
                       json_t *shapes, struct err *err);
void plan_variants_release(struct plan_variants *v);

/* Whether word is the variant's name, with or without the shape. */
bool plan_variant_is(const struct plan_variant *v, const char *word);
/* Moves the variants named by word up to index `to`, keeping their order; returns their number. */
size_t plan_variants_move_up(struct plan_variants *v, const char *word, size_t to);

#endif
