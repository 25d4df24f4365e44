/* turns: the verdict on one cell whose two sides were measured alternately (A B B A) in one session, where
 * there is no variation between nights: the practical threshold suffices. Confirming, `ab` and `bisect` judge
 * by it. Pure.
 */
#pragma once

#include "results/judge/pair.h"
#include "results/judge/verdict.h"

/* The runs of one side, in the order they were made. */
struct turns_runs {
    const struct run_data *const *items;
    size_t count;
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

/* Judges d->variant at d->context by d->metric; all repetitions of a side count alike. Sets the rest of d.
 * Without values on one side the verdict is noisy, with REASON_NO_VALUE, or REASON_APART if both
 * have values, but on no GPU in common. */
void turns_judge(const struct turns_runs *base, const struct turns_runs *now, const struct compare_options *o,
                 struct delta *d);
/* The same, of as many whole rounds of both sides, in each of which either made `each` runs: those in which a
 * side has no value do not count, since what the other one measured then compares with no other round. If
 * there is no other one, the last is judged. */
void turns_judge_rounds(const struct turns_runs *base, const struct turns_runs *now, size_t each,
                        const struct compare_options *o, struct delta *d);
void turns_judge_values(const struct pair *v, enum metric m, const struct compare_options *o,
                        struct delta *d);
