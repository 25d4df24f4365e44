/* judge: the verdict on one metric of one cell, from the values of both sides and what the nights say.
 *
 * Two steps, because false discoveries are controlled over all cells: judge_measure() chooses the method and
 * fills in the evidence of a delta, judge_decide() turns evidence and the adjusted p into a verdict and a
 * reason. Pure.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_JUDGE_H
#define KERNSWEEP_RESULTS_JUDGE_JUDGE_H

#include "results/judge/evidence.h"
#include "results/judge/verdict.h"

int judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d,
                  struct err *err);

/* tested: how many cells of this metric have a p-value. limit: shared by them. */
void judge_decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d);

/* The reason without the change that it begins with, for tables that have a column of changes. */
const char *judge_grounds(const struct delta *d);

#endif
