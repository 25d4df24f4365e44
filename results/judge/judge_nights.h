/* judge_nights: the evidence of METHOD_NIGHTS: tonight's value against what the nights expect.
 *
 * With v + 1 nights behind the scale s_c of the cell, the median s_p of all cells' scales and the d degrees
 * of freedom that it is worth (scale_prior()), the squared standard error of the logarithm of the ratio is
 *
 *   max{(v s_c^2 + d s_p^2) / (v + d), (s_w e(n))^2, q^2 / 6} * (1 + e(m)^2)
 *
 * with s_w the spread of the repetitions within a night, n tonight's repetitions, q the resolution of the
 * values (the difference of two rounded values has the variance q^2 / 6), m the nights behind the reference,
 * and e(n) the standard error of a median of n values (stats_median_error()). Its t has v + d degrees of
 * freedom. Pure.
 */
#pragma once

#include "results/judge/evidence.h"

/* d->reference, ratio and now_median are set. Sets method, z, p, freedom, noise_floor, detectable and the
 * interval. If the base's level says that the cell drifted, reference and ratio become those of the drift; if
 * the newest nights have left the base's level and tonight is a loss since then, those of the newest nights.
 */
void judge_nights(const struct evidence *e, const struct compare_options *o, struct delta *d);

/* The standard error of a night's common factor about its level, and its degrees of freedom. */
double common_factor_error(const struct nights *n, const struct level *level, size_t cells, double *freedom);
