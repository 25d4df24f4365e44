/* strata: which values of two sides may be compared: those of one GPU with those of the same GPU.
 *
 * A cell has a stratum for each GPU that `now` was measured on. Pure. The owner calls strata_release().
 */
#pragma once

#include "results/judge/evidence.h"
#include "results/judge/nights/places.h"

struct stratum {
    uint64_t device; /* 0: unknown */
    double *base, *now;
    size_t base_n, now_n;
    bool moved; /* the base was measured on other GPUs only, and `base` has the values of all of them */
};

struct strata {
    struct stratum *items;
    size_t count; /* at least 1 */
    double *room;
};

/* base and of_base may be NULL. Strata whose base is of the same GPU stand alone, if there are any. */
void strata_of(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
               const struct cell *of_now, enum metric m, struct strata *out);
void strata_release(struct strata *s);

/* Logarithm of now / base, the median over the strata; NaN if the sides are not comparable. */
double strata_log_ratio(const struct strata *s);

/* All values of each side, each divided by what its GPU's two sides have in common, so that GPUs do not count
 * as noise (an aligned rank test can take them). Replaces all strata by one. */
void strata_pool(struct strata *s);

/* The verdicts of several GPUs as one: the effect is the median over them. each: their evidence, judged by
 * METHOD_NIGHTS; n of them. Fills in out. */
void strata_combine(const struct delta *each, size_t n, const struct compare_options *o, struct delta *out);
