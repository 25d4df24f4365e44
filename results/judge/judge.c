#include "results/judge/judge.h"

#include "results/judge/judge_nights.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANN_WHITNEY_MIN = 4, BOOTSTRAP_MIN = 5, BOOTSTRAP_ROUNDS = 2000 };

static const double outlier_mads = 14.826;
/* A repetition speaks for a change if it shows this share of it; this share of the repetitions must. */
static const double near_share = 0.25, agree_share = 0.8;
/* 1.96 + 0.84: a test at the 5 % level detects a change of so many standard errors with a power of 80 %. */
static const double power_factor = 2.8;

/* Relative standard deviation of these values; NaN below two. */
static double relative_sd(const double *x, size_t n)
{
    return stats_sd(x, n) / fabs(stats_median(x, n));
}

static double ratio_error(const struct evidence *e)
{
    return stats_median_ratio_error(relative_sd(e->base, e->base_n), e->base_n, relative_sd(e->now, e->now_n),
                                    e->now_n);
}

/* Relative change, positive if worse. */
static double loss_of(const struct delta *d)
{
    double change = d->ratio - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

/* A limit of an interval, with the error of a factor that the ratio contains. */
static double widened(double ratio, double limit, double error)
{
    double reach = log(limit / ratio);
    return ratio * exp(copysign(hypot(reach, 1.96 * error), reach));
}

static void measure_repetitions(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    size_t least = e->base_n < e->now_n ? e->base_n : e->now_n;
    double wanted = loss_of(d) < 0 ? o->improvement : o->regression;
    /* One measurement says nothing about the noise within a session. */
    d->threshold = o->same_session && least > 1 ? fmin(o->practical, wanted) : wanted;
    d->noise_floor = ratio_error(e);
    d->freedom = isnan(d->noise_floor) ? NAN : (double)(e->base_n + e->now_n) - 2;
    /* Repetitions do not show the variation between runs; within one session there is none. */
    d->between_runs = o->same_session ? NAN : e->noise;
    if (!isnan(d->between_runs) && !(d->noise_floor >= M_SQRT2 * d->between_runs)) {
        d->noise_floor = M_SQRT2 * d->between_runs;
        d->freedom = NAN;
    }
    d->other_device = e->other_device;
    d->noise_floor = hypot(d->noise_floor, e->common_error); /* one measurement stays one of unknown noise */
    d->detectable = isnan(d->noise_floor) ? d->threshold : fmax(d->threshold, power_factor * d->noise_floor);
    if (isnan(d->ratio)) /* both are relative */
        d->noise_floor = d->detectable = NAN;
    d->method = METHOD_THRESHOLD;
    d->against = REFERENCE_RUN;
    if (least >= MANN_WHITNEY_MIN) {
        d->method = METHOD_MANN_WHITNEY;
        d->p = stats_mann_whitney(e->base, e->base_n, e->now, e->now_n);
    }
    if (least >= BOOTSTRAP_MIN && isfinite(d->ratio)) {
        struct stats_rng rng;
        stats_rng_seed(&rng, o->seed);
        struct stats_interval i =
            stats_bootstrap_ratio(e->base, e->base_n, e->now, e->now_n, 0.95, BOOTSTRAP_ROUNDS, &rng);
        d->method = METHOD_BOOTSTRAP;
        d->ratio_low = widened(d->ratio, i.low, e->common_error);
        d->ratio_high = widened(d->ratio, i.high, e->common_error);
    }
}

/* Whether some of the repetitions are (almost) as fast as the reference although the median is not: then
 * tests are disturbed one by one, and the median says which of two states prevailed, not how fast the code
 * is. */
static bool repetitions_disagree(const struct evidence *e, const struct delta *d)
{
    double change = log(d->ratio);
    size_t beyond = 0;
    if (e->now_n < 2 || !isfinite(change))
        return false;
    for (size_t i = 0; i < e->now_n; i++)
        beyond += log(e->now[i] / d->reference) / change >= near_share;
    return (double)beyond < agree_share * (double)e->now_n;
}

static void note_oddities(const struct evidence *e, struct delta *d)
{
    d->outlier = stats_outliers(e->now, e->now_n, outlier_mads, NULL) > 0;
    if (e->now_n >= 3 && metric_info(d->metric)->better == METRIC_LESS)
        d->slow_first = e->now[0] > (1 + fmax(d->threshold, 0.01)) * stats_median(e->now + 1, e->now_n - 1);
}

static void set_ratio(struct delta *d)
{
    bool usable = d->reference > 0 && d->now_median > 0;
    d->ratio = usable ? d->now_median / d->reference : NAN;
    d->factor = metric_info(d->metric)->better == METRIC_LESS ? 1 / d->ratio : d->ratio;
}

static void measure(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    bool exact = metric_info(d->metric)->exact;
    d->reference = stats_median(e->base, e->base_n);
    d->common = e->common;
    d->common_error = e->common_error;
    d->own = e->own;
    if (isnan(d->reference) && (exact || e->exact <= 0)) /* the model of nights leaves these out */
        d->reference = e->exact;
    if (e->expected.against != REFERENCE_NONE)
        d->reference = e->expected.value;
    set_ratio(d);
    if (isnan(d->reference) || isnan(d->now_median))
        d->method = METHOD_NONE;
    else if (exact)
        d->method = METHOD_EXACT;
    else if (e->expected.against != REFERENCE_NONE)
        judge_nights(e, o, d);
    else
        measure_repetitions(e, o, d);
}

/* The values of the base as they would have been tonight. */
static int scaled_base(const struct evidence *e, double **out, struct err *err)
{
    *out = malloc((e->base_n + 1) * sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for %zu repetitions", e->base_n);
    for (size_t i = 0; i < e->base_n; i++)
        (*out)[i] = e->base[i] * e->common * e->own;
    return 0;
}

int judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d, struct err *err)
{
    struct evidence tonight = *e;
    double *base;
    if (scaled_base(e, &base, err) != 0)
        return -1;
    tonight.base = base;
    d->base_n = (int)e->base_n;
    d->now_n = (int)e->now_n;
    d->base_median = stats_median(e->base, e->base_n);
    d->now_median = stats_median(e->now, e->now_n);
    d->history_n = e->cell ? (int)e->cell->count : 0;
    measure(&tonight, o, d);
    bool by_nights = d->method == METHOD_NIGHTS;
    d->factor_is_open = by_nights ? e->expected.factor_is_open : e->factor_is_open;
    d->own_is_open = by_nights ? e->expected.own_is_open : e->own_is_open;
    d->disagree = repetitions_disagree(e, d);
    note_oddities(e, d);
    free(base);
    return 0;
}
