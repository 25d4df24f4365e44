#include "results/judge/judge.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANN_WHITNEY_MIN = 4, BOOTSTRAP_MIN = 5, BOOTSTRAP_ROUNDS = 2000 };

static const double alpha = 0.05;
static const double outlier_mads = 14.826;
/* 1.96 + 0.84: a test at the 5 % level detects a change of so many standard errors with a power of 80 %. */
static const double power_factor = 2.8;
/* The standard error of a median is that of the mean times sqrt(pi / 2). */
static const double median_error = 1.2533;

/* Relative standard error of the median of these values; NaN below two. */
static double relative_error(const double *x, size_t n)
{
    return n < 2 ? NAN : median_error * stats_sd(x, n) / sqrt((double)n) / fabs(stats_median(x, n));
}

/* Relative standard error of the ratio; a side with a single value is assumed to be as noisy as the other. */
static double ratio_error(const struct evidence *e)
{
    double base = relative_error(e->base, e->base_n), now = relative_error(e->now, e->now_n);
    if (isnan(base) && isnan(now))
        return NAN;
    if (isnan(base))
        base = now * sqrt((double)e->now_n);
    if (isnan(now))
        now = base * sqrt((double)e->base_n);
    return stats_ratio_error(base, now);
}

/* Relative change, positive if worse. */
static double loss_of(const struct delta *d)
{
    double change = d->ratio - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

/* The MAD of n nights underestimates the scale by (n - 0.8) / n on average. The reference has an error too:
 * the median of n nights has a variance of pi / 2n of that of one night, a single run has the full variance.
 */
static double widening(size_t nights, bool against_one)
{
    double n = (double)nights;
    return n / (n - 0.8) * sqrt(1 + (against_one ? 1 : M_PI_2 / n));
}

static void measure_history(const struct evidence *e, const struct compare_options *o, struct delta *d,
                            double mad)
{
    size_t nights = e->history ? e->history->count : 1;
    double widen = widening(nights, e->base_n > 0 && !o->history_is_base);
    d->method = METHOD_ROBUST_Z;
    d->z = stats_robust_z(d->now_median, d->reference, mad * widen);
    d->p = stats_normal_p(d->z);
    d->noise_floor = 1.4826 * mad / fabs(d->history_median);
    d->threshold = fmin(o->practical, o->regression);
    d->detectable = fmax(d->threshold, (o->z_limit + 0.84) * d->noise_floor * widen);
}

static void measure_repetitions(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    size_t least = e->base_n < e->now_n ? e->base_n : e->now_n;
    double wanted = loss_of(d) < 0 ? o->improvement : o->regression;
    /* One measurement says nothing about the noise within a session. */
    d->threshold = o->same_session && least > 1 ? fmin(o->practical, wanted) : wanted;
    d->noise_floor = ratio_error(e);
    /* Repetitions do not show the variation between runs; within one session there is none. */
    d->between_runs = o->same_session ? NAN : e->noise;
    if (!isnan(d->between_runs) && !(d->noise_floor >= M_SQRT2 * d->between_runs))
        d->noise_floor = M_SQRT2 * d->between_runs;
    d->detectable = isnan(d->noise_floor) ? d->threshold : fmax(d->threshold, power_factor * d->noise_floor);
    d->method = METHOD_THRESHOLD;
    if (least >= MANN_WHITNEY_MIN) {
        d->method = METHOD_MANN_WHITNEY;
        d->p = stats_mann_whitney(e->base, e->base_n, e->now, e->now_n);
    }
    if (least >= BOOTSTRAP_MIN) {
        struct stats_rng rng;
        stats_rng_seed(&rng, o->seed);
        struct stats_interval i =
            stats_bootstrap_ratio(e->base, e->base_n, e->now, e->now_n, 0.95, BOOTSTRAP_ROUNDS, &rng);
        d->method = METHOD_BOOTSTRAP;
        d->ratio_low = i.low;
        d->ratio_high = i.high;
    }
}

static void note_oddities(const struct evidence *e, struct delta *d)
{
    d->outlier = stats_outliers(e->now, e->now_n, outlier_mads, NULL) > 0;
    if (e->now_n >= 3 && metric_info(d->metric)->better == METRIC_LESS)
        d->slow_first = e->now[0] > (1 + fmax(d->threshold, 0.01)) * stats_median(e->now + 1, e->now_n - 1);
}

static int history_values(const struct history_series *h, double **out, struct err *err)
{
    *out = malloc(h->count * sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for %zu nights", h->count);
    for (size_t i = 0; i < h->count; i++)
        (*out)[i] = h->points[i].median;
    return 0;
}

static void set_ratio(struct delta *d)
{
    bool usable = d->reference > 0 && d->now_median > 0;
    d->ratio = usable ? d->now_median / d->reference : NAN;
    d->factor = metric_info(d->metric)->better == METRIC_LESS ? 1 / d->ratio : d->ratio;
}

int judge_measure(const struct evidence *e, const struct compare_options *o, struct delta *d, struct err *err)
{
    const struct metric_info *info = metric_info(d->metric);
    double mad = NAN;
    d->base_n = (int)e->base_n;
    d->now_n = (int)e->now_n;
    d->base_median = stats_median(e->base, e->base_n);
    d->now_median = stats_median(e->now, e->now_n);
    d->history_n = e->history ? (int)e->history->count : 0;
    if (e->history && e->history->count) {
        double *nights;
        if (history_values(e->history, &nights, err) != 0)
            return -1;
        d->history_median = stats_median(nights, e->history->count);
        mad = stats_mad(nights, e->history->count);
        free(nights);
    }
    bool use_history = !info->exact && (size_t)d->history_n >= o->history_min;
    d->reference = d->base_median;
    if (isnan(d->reference) || (o->history_is_base && use_history))
        d->reference = d->history_median;
    set_ratio(d);
    if (isnan(d->reference) || isnan(d->now_median))
        d->method = METHOD_NONE;
    else if (info->exact)
        d->method = METHOD_EXACT;
    else if (use_history)
        measure_history(e, o, d, mad);
    else
        measure_repetitions(e, o, d);
    note_oddities(e, d);
    return 0;
}

/* "3.53x slower", "+4.2 %" */
static void describe_change(const struct delta *d, char *out, size_t size)
{
    const struct metric_info *info = metric_info(d->metric);
    bool time = metric_is_time(d->metric);
    const char *more = time ? "slower" : "more", *less = time ? "faster" : "less";
    if (isnan(d->ratio))
        snprintf(out, size, "%g -> %g %s", d->reference, d->now_median, info->unit);
    else if (d->ratio >= 1.5)
        snprintf(out, size, "%.2fx %s (%.6g -> %.6g %s)", d->ratio, more, d->reference, d->now_median,
                 info->unit);
    else if (d->ratio <= 1 / 1.5)
        snprintf(out, size, "%.2fx %s (%.6g -> %.6g %s)", 1 / d->ratio, less, d->reference, d->now_median,
                 info->unit);
    else
        snprintf(out, size, "%+.1f %% (%.6g -> %.6g %s)", 100 * (d->ratio - 1), d->reference, d->now_median,
                 info->unit);
}

static void set_verdict(struct delta *d, enum verdict v, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void set_verdict(struct delta *d, enum verdict v, const char *fmt, ...)
{
    char change[128], why[COMPARE_REASON_MAX];
    va_list ap;
    describe_change(d, change, sizeof change);
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    d->verdict = v;
    snprintf(d->reason, sizeof d->reason, "%s: %.180s", change, why);
}

static void decide_exact(struct delta *d)
{
    if (d->now_median == d->reference)
        set_verdict(d, VERDICT_UNCHANGED, "a property of the build, identical");
    else {
        bool worse = (d->now_median > d->reference) == (metric_info(d->metric)->better == METRIC_LESS);
        set_verdict(d, worse ? VERDICT_REGRESSED : VERDICT_IMPROVED,
                    "a property of the build, compared exactly");
    }
}

static enum verdict direction(double loss)
{
    return loss > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
}

static void decide_history(const struct compare_options *o, struct delta *d, double loss)
{
    bool significant = fabs(d->z) > o->z_limit && d->p_adjusted <= o->fdr;
    const char *reference = d->base_n > 0 && !o->history_is_base ? "base" : "median of the nights";
    if (significant && fabs(loss) > d->threshold)
        set_verdict(d, direction(loss),
                    "robust z %.1f against the %s (limit %.1f, spread of %d nights), beyond the threshold of "
                    "%.3g %%",
                    d->z, reference, o->z_limit, d->history_n, 100 * d->threshold);
    else if (significant)
        set_verdict(d, VERDICT_UNCHANGED,
                    "robust z %.1f against the %s (spread of %d nights), but below the threshold of %.3g %%",
                    d->z, reference, d->history_n, 100 * d->threshold);
    else if (fabs(loss) > o->regression)
        set_verdict(d, VERDICT_NOISY,
                    "may be chance: robust z %.1f against the %s, spread of %d nights %.1f %%, minimum "
                    "detectable change %.1f %%",
                    d->z, reference, d->history_n, 100 * d->noise_floor, 100 * d->detectable);
    else
        set_verdict(d, VERDICT_UNCHANGED,
                    "within the variation of %d nights (robust z %.1f against the %s, spread %.2g %%)",
                    d->history_n, d->z, reference, 100 * d->noise_floor);
}

static void decide_few(struct delta *d, double loss)
{
    const char *few =
        d->base_n <= 1 && d->now_n <= 1 ? "one measurement per side" : "too few repetitions for a test";
    const char *history = d->history_n > 0 ? "too few nights of history" : "no history";
    double band = isnan(d->noise_floor) ? 0 : 2 * d->noise_floor;
    if (fabs(loss) > d->threshold && fabs(loss) > band)
        set_verdict(d, direction(loss),
                    "beyond the threshold of %.3g %%, but with %s and %s: measure again to confirm",
                    100 * d->threshold, few, history);
    else if (fabs(loss) > d->threshold)
        set_verdict(d, VERDICT_NOISY, "within the noise of the same build (%.1f %%)", 100 * band);
    else if (!isnan(d->noise_floor) && band <= d->threshold)
        set_verdict(d, VERDICT_UNCHANGED, "below the threshold of %.3g %%, noise %.2g %%", 100 * d->threshold,
                    100 * band);
    else
        set_verdict(d, VERDICT_NOISY,
                    "insufficient evidence: below the threshold of %.3g %%, but with %s and %s",
                    100 * d->threshold, few, history);
}

/* Whether the repetitions of the two sides differ significantly. With many cells and few repetitions no p
 * survives the adjustment, however large the change: then the unadjusted p is used, and the reason says so.
 */
static bool sides_differ(const struct compare_options *o, size_t tested, const struct delta *d, bool *plain)
{
    double floor = stats_mann_whitney_floor((size_t)d->base_n, (size_t)d->now_n);
    *plain = floor * (double)tested > o->fdr;
    bool interval = d->method != METHOD_BOOTSTRAP || d->ratio_low > 1 || d->ratio_high < 1;
    return interval && (*plain ? d->p <= alpha : d->p_adjusted <= o->fdr);
}

static void decide_repetitions(const struct compare_options *o, size_t tested, struct delta *d, double loss)
{
    bool plain;
    bool differ = sides_differ(o, tested, d, &plain);
    const char *name = d->method == METHOD_BOOTSTRAP ? "Mann-Whitney and bootstrap interval" : "Mann-Whitney";
    const char *adjusted = plain ? " (not adjusted: n too small)" : "";
    double p = plain ? d->p : d->p_adjusted;
    double band = 2 * d->noise_floor;
    if (fabs(loss) > d->threshold && fabs(loss) <= 2 * M_SQRT2 * d->between_runs)
        set_verdict(d, VERDICT_NOISY, "runs of the same build differ by as much (A/A spread %.1f %%)",
                    100 * d->between_runs);
    else if (fabs(loss) > d->threshold && differ)
        set_verdict(d, direction(loss), "%s, n = %d and %d, p = %.2g%s, beyond the threshold of %.3g %%",
                    name, d->base_n, d->now_n, p, adjusted, 100 * d->threshold);
    else if (fabs(loss) > d->threshold)
        set_verdict(d, VERDICT_NOISY, "%s, n = %d and %d, p = %.2g%s: not significant", name, d->base_n,
                    d->now_n, p, adjusted);
    else if (band <= d->threshold)
        set_verdict(d, VERDICT_UNCHANGED, "below the threshold of %.3g %%, n = %d and %d", 100 * d->threshold,
                    d->base_n, d->now_n);
    else
        set_verdict(d, VERDICT_NOISY, "noise of %.1f %% exceeds the threshold of %.3g %%", 100 * band,
                    100 * d->threshold);
}

void judge_decide(const struct compare_options *o, size_t tested, struct delta *d)
{
    double loss = loss_of(d);
    bool negligible = fabs(d->now_median - d->reference) <= metric_info(d->metric)->least;
    switch (d->method) {
    case METHOD_NONE:
        snprintf(d->reason, sizeof d->reason, "one side has no measurement");
        d->verdict = VERDICT_NOISY;
        return;
    case METHOD_EXACT:
        decide_exact(d);
        return;
    case METHOD_THRESHOLD:
    case METHOD_MANN_WHITNEY:
    case METHOD_BOOTSTRAP:
    case METHOD_ROBUST_Z:
    case METHOD_COUNT:
        break;
    }
    if (isnan(loss))
        set_verdict(d, VERDICT_NOISY, "no ratio: a value is not positive");
    else if (negligible)
        set_verdict(d, VERDICT_UNCHANGED, "the difference is within %g %s, too small to matter",
                    metric_info(d->metric)->least, metric_info(d->metric)->unit);
    else if (d->method == METHOD_ROBUST_Z)
        decide_history(o, d, loss);
    else if (d->method == METHOD_THRESHOLD)
        decide_few(d, loss);
    else
        decide_repetitions(o, tested, d, loss);
}
