/* within: the variants of one run against each other. They were measured in one session, so no night lies
 * between them.
 *
 * Pure. compare_within() gives verdicts; compare_pair() and compare_variants() only ratios, for tables.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/pair.h"

/* `variant` against `reference`, context by context. base is the reference: factor 0.11 reads "0.11x of the
 * reference's speed". The numbers are NaN where either has no median. */
struct variant_delta {
    size_t variant; /* indexes into run->variants */
    size_t reference;
    int context;
    struct pair_estimate estimate;
    double factor;
    double factor_error; /* one standard error */
    bool negligible;     /* the medians differ by no more than least_difference() */
    bool hidden;         /* and for want of a spread, not because a plan says so */
    bool apart;          /* measured on different GPUs, which differ by themselves */
    bool unlike;         /* they did different work (work.h): the numbers are NaN */
};

/* Of two cells that have values, which may be of different runs. */
struct pair_estimate cells_estimate(const struct run_data *base_run, const struct cell *base,
                                    const struct run_data *now_run, const struct cell *now, enum metric m);

/* The one rule for two variants of a run, for tables and verdicts alike: pair_differ() at 5 %. Of two that
 * ran on different GPUs, what is within WITHIN_APART is inconclusive: GPUs of one model may differ by as
 * much. */
#define WITHIN_APART 0.10
enum verdict within_verdict(const struct variant_delta *d, double threshold);

/* Every other variant of one run against the reference, with verdicts by within_verdict() and
 * options->regression. base_id is the reference's name. A context that only the reference has is "missing"
 * for the others. */
void compare_within(const struct run_data *run, size_t reference, const struct compare_options *options,
                    struct comparison *out);

/* One row per cell of the run, in the order of run->cells; the caller frees them. */
struct variant_delta *compare_variants(const struct run_data *run, size_t reference, enum metric m);
struct variant_delta compare_pair(const struct run_data *run, size_t variant, size_t reference, int context,
                                  enum metric m);
