/* ab_budget: which of the open cells of `ab` a round measures, so that its rounds end within a time.
 *
 * What a round of a cell takes is known from the plan's last run on this node, and better from the rounds
 * that were measured. A cell of unknown duration is measured. Those of the plan's tier "smoke" come first,
 * and are measured in any case.
 */
#pragma once

#include "harness/commands/measure/ab_output.h"
#include "results/judge/confirm.h"
#include "results/store/store.h"

struct ab_budget {
    double until_s; /* monotonic; INFINITY without a budget */
    double round_began_s;
};

/* Begins now. text: as overrides_budget() reads it. Sets what is expected of the cells, as far as known. */
int ab_budget_begin(struct ab_budget *b, const char *text, const struct plan *p, struct store *store,
                    struct ab_cell *cells, size_t count, struct err *err);
/* Begins a round, which takes one of rounds_max at least: adds the cells that it measures to out, and marks
 * those that no round will measure. */
void ab_budget_choose(struct ab_budget *b, struct ab_cell *cells, size_t count, int64_t rounds_max,
                      struct suspect_list *out);
/* Ends it. */
void ab_budget_took(const struct ab_budget *b, struct ab_cell *cells, size_t count);
