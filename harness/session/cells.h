/* cells: cells of a plan that are to be measured, and the rounds in which they are measured until each of
 * them is decided. Confirming, ab, bisect and run --search settle their cells by it.
 *
 * Knows neither what a round measures nor what decides a cell. The owner of a list calls
 * suspect_list_release().
 */
#pragma once

#include "harness/plan/plan.h"
#include "results/judge/confirm.h"

void cells_add(struct suspect_list *l, const char *variant, int64_t context);
/* All that the plan measures, by context. */
struct suspect_list cells_of_plan(const struct plan *p);
/* Restricts the plan to these cells. Errors: as plan_keep_cells(). */
int cells_keep(struct plan *p, const struct suspect_list *cells, struct err *err);

/* What is settled. Each function gets `of`. */
struct settling {
    void *of;
    size_t rounds_max;
    /* Lists the cells that a round may decide; out is empty. */
    int (*open)(void *of, struct suspect_list *out, struct err *err);
    /* Measures a round of them; round: from 1. */
    int (*measure)(void *of, const struct suspect_list *cells, size_t round, struct err *err);
    /* Judges what all rounds have measured. */
    int (*judge)(void *of, struct err *err);
};

/* Measures and judges until nothing is open or the rounds are used up. An error ends it; what the rounds
 * before have settled stays so. */
int cells_settle(const struct settling *s, struct err *err);
