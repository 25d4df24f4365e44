/* judge: the verdict on one metric of one cell, from the values of both sides and what the nights say.
 *
 * Two steps, because false discoveries are controlled over all cells: judge_measure() chooses the method and
 * fills in the evidence of a delta, judge_decide() turns evidence and the adjusted p into a verdict and the
 * code of its reason. Pure.
 */
#pragma once

#include "results/judge/evidence.h"
#include "results/judge/verdict.h"

void judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d);

/* tested: how many cells of this metric have a p-value. limit: shared by them. */
void judge_decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d);
