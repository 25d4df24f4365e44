/* The second half of judge.h: from evidence to a verdict and the code of its reason. */
#include "results/judge/judge.h"

#include "results/stats/stats.h"

#include <math.h>

static const double alpha = 0.05;

/* A test with a power of 80 % needs so many standard errors beyond its limit. */
static const double power_80 = 0.84;

/* Relative change, positive if worse. */
static double loss_of(const struct delta *d)
{
    double change = d->estimate.ratio - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

static void set_verdict(struct delta *d, enum verdict v, enum reason_code reason)
{
    d->verdict = v;
    d->reason = reason;
}

static void set_changed(struct delta *d, enum reason_code reason)
{
    bool more = d->now.median > d->reference.value;
    bool worse = more == (metric_info(d->metric)->better == METRIC_LESS);
    set_verdict(d, worse ? VERDICT_REGRESSED : VERDICT_IMPROVED, reason);
}

/* The smallest change of one cell among so many that is found in 80 % of nights. */
static double detectable_change(const struct compare_options *o, size_t tested, struct t_limit *limit,
                                const struct delta *d)
{
    double t = t_limit_of(limit, o->fdr / (double)(tested ? tested : 1), d->estimate.freedom);
    return fmax(d->estimate.threshold, expm1((t + power_80) * d->estimate.noise_floor));
}

static enum reason_code reason_of_stand(const struct delta *d, bool changed, double loss)
{
    if (d->stand.back || loss <= 0)
        return REASON_BACK;
    return changed ? REASON_CHANGED : REASON_STANDS;
}

static void decide_nights(const struct compare_options *o, size_t tested, struct t_limit *limit,
                          struct delta *d, double loss)
{
    bool significant = d->estimate.p_adjusted <= o->fdr;
    bool changed = significant && fabs(loss) > d->estimate.threshold;
    d->estimate.detectable = detectable_change(o, tested, limit, d);
    if (d->stand.stands)
        set_verdict(d, VERDICT_REGRESSED, reason_of_stand(d, changed, loss));
    else if (changed && d->doubts.disagree)
        set_verdict(d, VERDICT_NOISY, REASON_DISAGREE);
    else if (changed && loss > 0)
        set_verdict(d, VERDICT_SUSPECTED, d->stand.uneven ? REASON_UNEVEN : REASON_SUSPECT);
    else if (changed)
        set_changed(d, REASON_CHANGED);
    else if (fabs(loss) > o->regression || d->estimate.detectable > o->regression)
        set_verdict(d, VERDICT_NOISY, REASON_INSUFFICIENT);
    else
        set_verdict(d, VERDICT_UNCHANGED, REASON_BELOW);
}

/* How many standard errors count: few repetitions do not tell well how far they vary. */
static double limit_of_few(struct t_limit *limit, const struct delta *d)
{
    return isnan(d->estimate.freedom) ? 2 : t_limit_of(limit, alpha, d->estimate.freedom);
}

static void decide_few(struct t_limit *limit, struct delta *d, double loss)
{
    struct delta_estimate *e = &d->estimate;
    bool noise_known = !isnan(e->noise_floor);
    double errors = limit_of_few(limit, d), band = noise_known ? errors * e->noise_floor : 0;
    if (noise_known)
        e->detectable = fmax(e->threshold, (errors + power_80) * e->noise_floor);
    if (fabs(loss) <= e->threshold) {
        bool enough = noise_known && e->detectable <= e->threshold;
        set_verdict(d, enough ? VERDICT_UNCHANGED : VERDICT_NOISY,
                    enough ? REASON_BELOW : REASON_INSUFFICIENT);
    } else if (fabs(loss) <= band)
        set_verdict(d, VERDICT_NOISY, REASON_NOISE);
    else if (d->doubts.disagree)
        set_verdict(d, VERDICT_NOISY, REASON_DISAGREE);
    else
        set_changed(d, REASON_CHANGED);
}

/* REASON_CHANGED if the repetitions of the two sides differ significantly, and by more than the error of the
 * factor that all cells share, else what does not suffice. With many cells and few repetitions no p survives
 * the adjustment, however large the change: then the unadjusted p is used, and doubts.unadjusted says so. */
static enum reason_code sides_differ(const struct compare_options *o, size_t tested, struct delta *d)
{
    const struct delta_estimate *e = &d->estimate;
    double floor = stats_mann_whitney_floor((size_t)d->base.n, (size_t)d->now.n);
    bool bootstrap = e->method == METHOD_BOOTSTRAP;
    d->doubts.unadjusted = floor * (double)tested > o->fdr;
    if (!(d->doubts.unadjusted ? e->p <= alpha : e->p_adjusted <= o->fdr))
        return REASON_NOT_SIGNIFICANT;
    if (bootstrap && !(e->low > 1 || e->high < 1))
        return REASON_INTERVAL;
    if (!bootstrap && fabs(log(e->ratio)) <= 1.96 * d->reference.common_error)
        return REASON_FACTOR_ERROR;
    return REASON_CHANGED;
}

static void take_difference(struct delta *d, enum reason_code found)
{
    if (found == REASON_CHANGED)
        set_changed(d, found);
    else
        set_verdict(d, VERDICT_NOISY, found);
}

static void decide_repetitions(const struct compare_options *o, size_t tested, struct delta *d, double loss)
{
    const struct delta_estimate *e = &d->estimate;
    enum reason_code found = sides_differ(o, tested, d);
    if (fabs(loss) > e->threshold && fabs(loss) <= 2 * M_SQRT2 * e->between_runs)
        set_verdict(d, VERDICT_NOISY, REASON_SPREAD);
    else if (fabs(loss) > e->threshold)
        take_difference(d, found);
    else if (e->detectable <= e->threshold)
        set_verdict(d, VERDICT_UNCHANGED, REASON_BELOW);
    else
        set_verdict(d, VERDICT_NOISY, REASON_INSUFFICIENT);
}

/* Whether the difference is too small to be judged. What stands open is judged all the same. */
static bool is_small(const struct compare_options *o, const struct delta *d)
{
    double away = fabs(d->now.median - d->reference.value), least = d->estimate.least;
    bool by_nights = d->estimate.method == METHOD_NIGHTS; /* their scatter says what matters */
    if (d->reference.value == 0 && d->now.median == 0)
        return true;
    return !o->ratio_alone && !d->stand.stands && (least > 0 || !by_nights) && away <= least;
}

/* A floor may hide a change, unless the plan says that such a change is none. */
static void decide_small(struct delta *d, double loss)
{
    bool hidden = fabs(loss) > d->estimate.threshold && metric_info(d->metric)->kind != METRIC_OF_EXTRA;
    if (d->now.median == d->reference.value)
        set_verdict(d, VERDICT_UNCHANGED, REASON_SAME_VALUE);
    else
        set_verdict(d, hidden ? VERDICT_NOISY : VERDICT_UNCHANGED, REASON_NEGLIGIBLE);
}

static void decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d)
{
    double loss = loss_of(d);
    bool small = is_small(o, d);
    if (d->estimate.method == METHOD_NONE)
        set_verdict(d, VERDICT_NOISY,
                    d->reference.history_n > 0 && d->now.n ? REASON_FEW_NIGHTS : REASON_NO_VALUE);
    else if (d->estimate.method == METHOD_EXACT && d->now.median == d->reference.value)
        set_verdict(d, VERDICT_UNCHANGED, REASON_EXACT);
    else if (d->estimate.method == METHOD_EXACT)
        set_changed(d, REASON_EXACT);
    else if (isnan(loss) && !small && !delta_by_ranks(d))
        set_verdict(d, VERDICT_NOISY, REASON_NO_RATIO);
    else if (d->doubts.other_device)
        set_verdict(d, VERDICT_NOISY, REASON_OTHER_GPU);
    else if (small)
        decide_small(d, loss);
    else if (isnan(loss))
        take_difference(d, sides_differ(o, tested, d));
    else if (d->estimate.method == METHOD_NIGHTS)
        decide_nights(o, tested, limit, d, loss);
    else if (d->estimate.method == METHOD_THRESHOLD)
        decide_few(limit, d, loss);
    else
        decide_repetitions(o, tested, d, loss);
}

/* A cell that stayed where it was, or went the other way, may not have changed, but lack the code that others
 * share and that did. */
static void doubt_factor(struct delta *d)
{
    double measured = delta_measured(d) - 1;
    bool changed = verdict_is_slower(d->verdict) || d->verdict == VERDICT_IMPROVED;
    bool more = d->estimate.ratio > 1;
    bool open = d->stand.stands && d->reference.kind == REFERENCE_LEVEL; /* one night does not doubt it */
    if (changed && !open && (d->doubts.factor_is_open || d->doubts.own_is_open) &&
        (more ? measured : -measured) <= d->estimate.threshold)
        set_verdict(d, VERDICT_NOISY, REASON_STAYED);
}

void judge_decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d)
{
    decide(o, tested, limit, d);
    doubt_factor(d);
    if (isfinite(d->estimate.detectable) && d->reference.value > 0)
        d->estimate.detectable = fmax(d->estimate.detectable, d->estimate.least / d->reference.value);
}
