#include "results/judge/judge.h"

#include "common/base/alloc.h"
#include "results/judge/judge_nights.h"
#include "results/judge/pair.h"
#include "results/stats/stats.h"

#include <math.h>

enum { MANN_WHITNEY_MIN = 4, BOOTSTRAP_MIN = 5, BOOTSTRAP_ROUNDS = 2000 };

static const double outlier_mads = 14.826;
/* A repetition speaks for a change if it shows this share of it; this share of the repetitions must. */
static const double near_share = 0.25, agree_share = 0.8;
/* 1.96 + 0.84: a test at the 5 % level detects a change of so many standard errors with a power of 80 %. */
static const double power_factor = 2.8;

/* Relative change, positive if worse. */
static double loss_of(const struct delta *d)
{
    double change = d->estimate.ratio - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

/* A limit of an interval, with the error of a factor that the ratio contains. */
static double widened(double ratio, double limit, double error)
{
    double reach = log(limit / ratio);
    return ratio * exp(copysign(hypot(reach, 1.96 * error), reach));
}

/* The error of the ratio, and what it could show. */
static void take_error(const struct evidence *e, const struct pair_estimate *pair, bool same_session,
                       struct delta_estimate *out)
{
    out->noise_floor = pair->error;
    out->freedom = pair->freedom;
    /* Repetitions do not show the variation between runs; within one session there is none. */
    out->between_runs = same_session ? NAN : e->noise;
    if (!isnan(out->between_runs) && !(out->noise_floor >= M_SQRT2 * out->between_runs)) {
        out->noise_floor = M_SQRT2 * out->between_runs;
        out->freedom = NAN;
    }
    out->noise_floor = hypot(out->noise_floor, e->common_error); /* that of one measurement stays unknown */
    out->detectable =
        isnan(out->noise_floor) ? out->threshold : fmax(out->threshold, power_factor * out->noise_floor);
    if (isnan(out->ratio)) /* both are relative */
        out->noise_floor = out->detectable = NAN;
}

static void take_interval(const struct evidence *e, uint64_t seed, struct delta_estimate *out)
{
    struct stats_rng rng;
    stats_rng_seed(&rng, seed);
    struct stats_interval i =
        stats_bootstrap_ratio(e->base, e->base_n, e->now, e->now_n, 0.95, BOOTSTRAP_ROUNDS, &rng);
    out->method = METHOD_BOOTSTRAP;
    out->low = widened(out->ratio, i.low, e->common_error);
    out->high = widened(out->ratio, i.high, e->common_error);
}

static void measure_repetitions(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    const struct pair sides = {.base = e->base, .base_n = e->base_n, .now = e->now, .now_n = e->now_n};
    const struct pair_estimate pair = pair_estimate(&sides, 1);
    size_t least = e->base_n < e->now_n ? e->base_n : e->now_n;
    double wanted = loss_of(d) < 0 ? o->improvement : o->regression;
    /* One measurement says nothing about the noise within a session. */
    d->estimate.threshold = o->same_session && least > 1 ? fmin(o->practical, wanted) : wanted;
    take_error(e, &pair, o->same_session, &d->estimate);
    d->estimate.least = least_difference(d->metric, pair.error > 0 || d->estimate.between_runs > 0);
    d->doubts.other_device = e->other_device;
    d->reference.kind = REFERENCE_RUN;
    d->estimate.method = least >= MANN_WHITNEY_MIN ? METHOD_MANN_WHITNEY : METHOD_THRESHOLD;
    if (least >= MANN_WHITNEY_MIN)
        d->estimate.p = pair.p;
    if (least >= BOOTSTRAP_MIN && isfinite(d->estimate.ratio))
        take_interval(e, o->seed, &d->estimate);
}

/* Whether some of the repetitions are (almost) as fast as the reference although the median is not: then
 * tests are disturbed one by one, and the median says which of two states prevailed, not how fast the code
 * is. */
static bool repetitions_disagree(const struct evidence *e, const struct delta *d)
{
    double change = log(d->estimate.ratio);
    size_t beyond = 0;
    if (e->now_n < 2 || !isfinite(change))
        return false;
    for (size_t i = 0; i < e->now_n; i++)
        beyond += log(e->now[i] / d->reference.value) / change >= near_share;
    return (double)beyond < agree_share * (double)e->now_n;
}

static void note_oddities(const struct evidence *e, struct delta *d)
{
    d->doubts.outlier = stats_outliers(e->now, e->now_n, outlier_mads, NULL) > 0;
    if (e->now_n >= 3 && metric_info(d->metric)->better == METRIC_LESS)
        d->doubts.slow_first =
            e->now[0] > (1 + fmax(d->estimate.threshold, 0.01)) * stats_median(e->now + 1, e->now_n - 1);
}

static void set_ratio(struct delta *d)
{
    bool usable = d->reference.value > 0 && d->now.median > 0;
    d->estimate.ratio = usable ? d->now.median / d->reference.value : NAN;
    d->estimate.factor =
        metric_info(d->metric)->better == METRIC_LESS ? 1 / d->estimate.ratio : d->estimate.ratio;
}

static void measure(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    bool exact = metric_info(d->metric)->exact;
    d->reference.value = stats_median(e->base, e->base_n);
    d->reference.common = e->common;
    d->reference.common_error = e->common_error;
    d->reference.own = e->own;
    if (isnan(d->reference.value) && (exact || e->exact <= 0)) /* the model of nights leaves these out */
        d->reference.value = e->exact;
    if (e->expected.against != REFERENCE_NONE)
        d->reference.value = e->expected.value;
    set_ratio(d);
    if (isnan(d->reference.value) || isnan(d->now.median))
        d->estimate.method = METHOD_NONE;
    else if (exact)
        d->estimate.method = METHOD_EXACT;
    else if (e->expected.against != REFERENCE_NONE) {
        d->estimate.least = least_difference(d->metric, true);
        judge_nights(e, o, d);
    } else
        measure_repetitions(e, o, d);
}

void judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    AUTO_FREE double *base = xmalloc(e->base_n * sizeof *base);
    struct evidence tonight = *e;
    for (size_t i = 0; i < e->base_n; i++) /* as they would have been tonight */
        base[i] = e->base[i] * e->common * e->own;
    tonight.base = base;
    d->base.n = (int)e->base_n;
    d->now.n = (int)e->now_n;
    d->base.median = stats_median(e->base, e->base_n);
    d->now.median = stats_median(e->now, e->now_n);
    d->reference.history_n = e->cell ? (int)e->cell->count : 0;
    measure(&tonight, o, d);
    bool by_nights = d->estimate.method == METHOD_NIGHTS;
    d->doubts.factor_is_open = by_nights ? e->expected.factor_is_open : e->factor_is_open;
    d->doubts.own_is_open = by_nights ? e->expected.own_is_open : e->own_is_open;
    d->doubts.disagree = repetitions_disagree(e, d);
    note_oddities(e, d);
}
