/* within: the variants of one run against each other. They were measured in one session, so no night lies
 * between them.
 *
 * Pure. compare_within() gives verdicts; compare_pair() and compare_variants() only ratios, for tables.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_WITHIN_H
#define KERNSWEEP_RESULTS_JUDGE_WITHIN_H

#include "results/judge/compare.h"

/* `variant` against `reference`, context by context. NaN
 * where either has no median. base is the reference: factor 0.11 reads "0.11x of the reference's speed". */
struct variant_delta {
    size_t variant; /* indexes into run->variants */
    size_t reference;
    int context;
    double ratio;
    double factor;
    double factor_error; /* one standard error, of medians; NaN if neither side has 2 values. A side with one
                            value is taken to vary as the other does */
    double freedom;      /* degrees of freedom of factor_error: values of both sides less 2 */
    double p;            /* of the Mann-Whitney test; NaN where it cannot reach 0.05 */
    bool negligible;     /* the medians differ by less than the metric's least difference */
    bool apart;          /* measured on different GPUs, which differ by themselves */
};

/* Relative standard error of the ratio of two cells' medians; the cells may be of different runs. NaN if
 * neither has two values. */
double cells_ratio_error(const struct run_data *run_a, const struct cell *a, const struct run_data *run_b,
                         const struct cell *b, enum metric m);

/* How far the 95 % interval of the factor's logarithm reaches to either side: the standard error times
 * Student's t for its degrees of freedom, 4.3 for two values per side. NaN without a standard error. */
double within_reach(const struct variant_delta *d);

/* The one rule for two variants of a run, for tables and verdicts alike: improved or regressed if the factor
 * is beyond the threshold (a fraction) and within_reach() and the ranks do not contradict it, unchanged if
 * neither exceeds the threshold, else inconclusive: of values in one of two states, the medians may be of
 * either, whatever their standard error. Without a standard error the threshold decides alone. Symmetric: as
 * far for 1/4 as for 4. Of two that ran on different GPUs, what is within WITHIN_APART is inconclusive: GPUs
 * of one model may differ by as much. */
#define WITHIN_APART 0.10
enum verdict within_verdict(const struct variant_delta *d, double threshold);

/* Every other variant of one run against the reference, with verdicts by within_verdict() and
 * options->regression. base_id is the reference's name. A context that only the reference has is "missing"
 * for the others. */
int compare_within(const struct run_data *run, size_t reference, const struct compare_options *options,
                   struct comparison *out, struct err *err);

/* One row per cell of the run, in the order of run->cells; the caller frees *out. */
int compare_variants(const struct run_data *run, size_t reference, enum metric m, struct variant_delta **out,
                     size_t *count, struct err *err);
struct variant_delta compare_pair(const struct run_data *run, size_t variant, size_t reference, int context,
                                  enum metric m);

#endif
