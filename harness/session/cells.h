/* cells: the cells of a plan that are to be measured, and rounds of measuring until each of them is
 * decided. Used by confirmation, ab, bisect and run --search.
 *
 * Knows neither what a round measures nor what decides a cell. The owner of a list calls
 * suspect_list_release().
 */
#pragma once

#include "harness/plan/plan.h"
#include "results/judge/confirm.h"

void cells_add(struct suspect_list *l, const char *variant, int64_t context);
/* All cells of the plan, by context. */
struct suspect_list cells_of_plan(const struct plan *p);
/* Restricts the plan to these cells. Errors: as plan_keep_cells(). */
int cells_keep(struct plan *p, const struct suspect_list *cells, struct err *err);

/* Callbacks for one set of cells; each gets `of`. */
struct settling {
    void *of;
    size_t rounds_max;
    /* Lists the cells that another round may decide; out is empty. */
    int (*open)(void *of, struct suspect_list *out, struct err *err);
    /* Measures one round of these cells; round counts from 1. */
    int (*measure)(void *of, const struct suspect_list *cells, size_t round, struct err *err);
    /* Judges the measurements of all rounds. */
    int (*judge)(void *of, struct err *err);
};

/* Measures and judges until no cell is open or the rounds are used up. An error ends it but keeps the
 * results of earlier rounds. */
int cells_settle(const struct settling *s, struct err *err);
