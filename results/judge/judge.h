/* judge: the verdict on one metric of one cell, from the values of both sides and the history.
 *
 * Two steps, because false discoveries are controlled over all cells: judge_measure() chooses the method and
 * fills in the evidence of a delta, judge_decide() turns evidence and the adjusted p into a verdict and a
 * reason. Pure.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_JUDGE_H
#define KERNSWEEP_RESULTS_JUDGE_JUDGE_H

#include "results/judge/history.h"
#include "results/judge/verdict.h"

struct evidence {
    const double *base; /* values of the counted OK repetitions; NULL when there is no base */
    size_t base_n;
    const double *now;
    size_t now_n;
    const struct history_series *history; /* NULL when there is none */
    double noise;                         /* relative spread between runs in an A/A sweep; NaN if unknown */
};

int judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d,
                  struct err *err);

/* tested: how many cells of this metric have a p-value. */
void judge_decide(const struct compare_options *o, size_t tested, struct delta *d);

#endif
