/* compare: two runs, cell by cell, with a verdict and the evidence for it.
 *
 * Pure: takes loaded runs and, when there is one, the history; reads no store and prints nothing. Cells that
 * only one side has, and cells that stopped or started to work, are findings and never dropped. Which method
 * judges a cell depends on the evidence: enough nights of history -> robust z and a practical threshold;
 * five values per run -> bootstrap interval; four -> exact Mann-Whitney; fewer -> the plan's threshold alone.
 * False discoveries are controlled over all cells that were tested with a p-value.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_COMPARE_H
#define KERNSWEEP_RESULTS_JUDGE_COMPARE_H

#include "results/judge/facts.h"
#include "results/judge/history.h"
#include "results/judge/verdict.h"

struct comparison {
    char base_id[RUN_ID_MAX];
    char now_id[RUN_ID_MAX];
    /* By variant in now's order, then context, then metric; what only the base has stands last. */
    struct delta *deltas;
    size_t count;
    struct fact_change *facts;
    size_t n_facts;
    enum metric primary; /* compare_primary() */
    size_t tested;       /* cells of it that had a p-value and went through the false-discovery control */
    int verdicts[VERDICT_COUNT]; /* of it */
};

/* The metric that decides between two runs, from what either of them measured; base may be NULL. */
enum metric compare_primary(const struct run_data *base, const struct run_data *now, enum metric wanted);

/* base may be NULL when there is a history: each cell is then judged against its nights alone. history may be
 * NULL. */
int compare_runs(const struct run_data *base, const struct run_data *now, const struct history *history,
                 const struct compare_options *options, struct comparison *out, struct err *err);
void comparison_release(struct comparison *c);

/* Whether the comparison holds a regression (or a broken or missing cell). */
bool comparison_regressed(const struct comparison *c);

#endif
