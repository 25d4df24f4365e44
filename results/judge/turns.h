/* turns: the verdict on one cell whose two sides were measured in turns (A B B A) in one session, where there
 * is no variation between nights: the practical threshold suffices. Confirming, `ab` and `bisect` judge by
 * it. Pure.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_TURNS_H
#define KERNSWEEP_RESULTS_JUDGE_TURNS_H

#include "results/judge/verdict.h"

/* The runs of one side, in the order they were made. */
struct turns_runs {
    const struct run_data *const *items;
    size_t count;
};

/* The values of both sides, and the metric they are of. */
struct turns_values {
    const double *base, *now;
    size_t base_n, now_n;
    enum metric metric;
};

/* What to judge the cell d by: the plan's primary metric if either side measured it, else the first that both
 * did, else the first that either did. The wall time, which every test has, comes last. */
enum metric turns_metric(const struct turns_runs *base, const struct turns_runs *now, const struct delta *d);
/* Whether any of the side's tests of the cell d passed, whatever it measured. */
bool turns_passed(const struct turns_runs *side, const struct delta *d);

/* How many of the side's tests of a cell failed. One that was stopped, or not begun, did not. */
struct turns_failed {
    size_t failed, of;
    enum status status; /* of the first that did */
    const char *reason; /* borrowed; "" if none did */
};
struct turns_failed turns_failed(const struct turns_runs *side, const struct delta *d);

/* Judges d->variant at d->context by d->metric; all repetitions of a side count alike. Without values on one
 * side only base_n and now_n are set, and the verdict is noisy; d->apart: both sides have values, but on no
 * GPU in common. */
int turns_judge(const struct turns_runs *base, const struct turns_runs *now, const struct compare_options *o,
                struct delta *d, struct err *err);
/* The same, of as many whole rounds of both sides, in each of which either made `each` runs: those in which a
 * side has no value do not count, since what the other one measured then compares with no other round. If
 * there is no other one, the last is judged. */
int turns_judge_rounds(const struct turns_runs *base, const struct turns_runs *now, size_t each,
                       const struct compare_options *o, struct delta *d, struct err *err);
int turns_judge_values(const struct turns_values *v, const struct compare_options *o, struct delta *d,
                       struct err *err);

#endif
