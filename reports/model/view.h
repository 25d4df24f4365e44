/* view: a run as tables show it: rows by context, each cell against the reference variant, and which steps of
 * the scaling are flagged. Pure: works on loaded results and keeps no state.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/scaling.h"
#include "results/judge/within.h"

/* How a cell compares with the reference variant, by within_verdict(). */
enum beside {
    BESIDE_REFERENCE,
    BESIDE_FAST,
    BESIDE_SAME,
    BESIDE_SLOW,
    BESIDE_UNSURE, /* the repetitions vary too much to tell */
    BESIDE_NOT_OK,
    BESIDE_NONE
};
enum beside beside_of(const struct cell *c, const struct variant_delta *d);

/* Order of a document's tables: by context, then as the plan lists the variants. The caller frees it. */
size_t *cells_by_context(const struct run_data *run);

/* A step whose time grows this much more than n^2 is flagged. */
#define SCALING_TOLERANCE 0.10
enum scaling_flag {
    SCALING_NONE,
    SCALING_ABOVE,
    SCALING_UNSURE /* the spread of the repetitions could explain it */
};
enum scaling_flag scaling_flag_of(const struct scaling_row *row);
/* Whether any variant was measured at more than one context. */
bool scaling_has_steps(const struct scaling_set *set);
