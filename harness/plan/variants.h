/* plan_variants: the variants of a plan, in the order in which they are measured. In a kernel plan each
 * variant becomes one for each shape, called after what distinguishes the shape ("v3_b4h1"). What a variant
 * consists of is common/contract/variant.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_VARIANTS_H
#define KERNSWEEP_HARNESS_PLAN_VARIANTS_H

#include "common/contract/variant.h"

struct plan_variant {
    const char *name;
    const struct variant *variant; /* as the plan has it */
    const json_t *shape;           /* of a kernel plan, else NULL */
};

struct plan_variants {
    struct plan_variant *item;
    size_t count;
    struct variant *read; /* of the file; items refer to it */
    size_t read_count;
    json_t *shapes; /* of a kernel plan, else NULL */
    char **names;   /* of items that are named after a shape */
    size_t name_count;
};

/* at: "variants"; shapes: of a kernel plan, taken, else NULL. v must be zeroed; plan_variants_release() frees
 * it in any case. */
int plan_variants_read(struct plan_variants *v, const struct json_at *at, const struct variant_context *c,
                       json_t *shapes, struct err *err);
void plan_variants_release(struct plan_variants *v);

/* Whether word is the variant's name, or of a kernel plan the name without the shape. */
bool plan_variant_is(const struct plan_variant *v, const char *word);
/* Moves the variants that word names up to place `to`, keeping their order; returns how many there are. */
size_t plan_variants_move_up(struct plan_variants *v, const char *word, size_t to);

#endif
