/* The second half of judge.h: from evidence to a verdict and its reason. */
#include "results/judge/judge.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double alpha = 0.05;

enum { DOUBT_MAX = 96 };
/* A test with a power of 80 % needs so many standard errors beyond its limit. */
static const double power_80 = 0.84;
/* A common factor nearer to 1 than this is not worth a word in a reason. */
static const double common_shown = 0.005;

/* Relative change, positive if worse. */
static double loss_of(const struct delta *d)
{
    double change = d->ratio - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
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
    else if (fabs(d->ratio - 1) < 0.0005) /* shown as 0, which has no sign */
        snprintf(out, size, "0.0 %% (%.6g -> %.6g %s)", d->reference, d->now_median, info->unit);
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
    snprintf(d->reason, sizeof d->reason, "%s: %.250s", change, why);
}

const char *judge_grounds(const struct delta *d)
{
    char change[128];
    describe_change(d, change, sizeof change);
    size_t n = strlen(change);
    bool begins = strncmp(d->reason, change, n) == 0 && strncmp(d->reason + n, ": ", 2) == 0;
    return d->reason + (begins ? n + 2 : 0);
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

/* "the median of 20 nights", and what was done to it. */
static void describe_reference(const struct delta *d, char *out, size_t size)
{
    int n = snprintf(out, size, "%s %d night%s",
                     d->against == REFERENCE_BASE ? "the base, the median of" : "the median of",
                     d->reference_n, d->reference_n == 1 ? "" : "s");
    if (fabs(d->common - 1) >= common_shown)
        n += snprintf(out + n, size - (size_t)n, " times the night's common factor of %.3f", d->common);
    if (fabs(d->own - 1) >= common_shown)
        snprintf(out + n, size - (size_t)n, " times its GPU's own factor of %.3f", d->own);
}

static const char *describe_floor(const struct delta *d)
{
    switch (d->floor) {
    case FLOOR_WITHIN:
        return "from the repetitions";
    case FLOOR_QUANTUM:
        return "from the resolution of the values";
    case FLOOR_NIGHTS:
    case FLOOR_COUNT:
        break;
    }
    return "from the nights";
}

/* The smallest change of one cell among so many that is found in 80 % of nights. */
static double detectable_change(const struct compare_options *o, size_t tested, struct t_limit *limit,
                                const struct delta *d)
{
    double t = t_limit_of(limit, o->fdr / (double)(tested ? tested : 1), d->freedom);
    return fmax(d->threshold, expm1((t + power_80) * d->noise_floor));
}

static void decide_nights(const struct compare_options *o, size_t tested, struct t_limit *limit,
                          struct delta *d, double loss)
{
    bool significant = d->p_adjusted <= o->fdr;
    d->detectable = detectable_change(o, tested, limit, d);
    char reference[160];
    describe_reference(d, reference, sizeof reference);
    d->disputed = significant && fabs(loss) > d->threshold && d->disagree;
    if (d->disputed)
        set_verdict(d, VERDICT_NOISY, "the repetitions disagree: some are as %s as %s",
                    loss > 0 ? "fast" : "slow", reference);
    else if (significant && fabs(loss) > d->threshold)
        set_verdict(
            d, direction(loss),
            "t = %.1f (%.0f degrees of freedom) against %s, standard error %.2g %% %s, beyond %.3g %%", d->z,
            d->freedom, reference, 100 * d->noise_floor, describe_floor(d), 100 * d->threshold);
    else if (fabs(loss) > o->regression || d->detectable > o->regression)
        set_verdict(
            d, VERDICT_NOISY,
            "t = %.1f against %s; standard error %.2g %% %s, so only changes of %.1f %% and more would be"
            " found",
            d->z, reference, 100 * d->noise_floor, describe_floor(d), 100 * d->detectable);
    else if (significant)
        set_verdict(d, VERDICT_UNCHANGED, "t = %.1f against %s, but below the threshold of %.3g %%", d->z,
                    reference, 100 * d->threshold);
    else
        set_verdict(d, VERDICT_UNCHANGED,
                    "t = %.1f against %s, within their variation; a change of %.1f %% would be found", d->z,
                    reference, 100 * d->detectable);
}

/* How many standard errors count: few repetitions do not tell well how far they vary. */
static double limit_of_few(struct t_limit *limit, const struct delta *d)
{
    return isnan(d->freedom) ? 2 : t_limit_of(limit, alpha, d->freedom);
}

static void decide_few(struct t_limit *limit, struct delta *d, double loss)
{
    const char *few =
        d->base_n <= 1 && d->now_n <= 1 ? "one measurement per side" : "too few repetitions for a test";
    const char *history = d->history_n > 0 ? "too few nights of history" : "no history";
    double errors = limit_of_few(limit, d), band = isnan(d->noise_floor) ? 0 : errors * d->noise_floor;
    if (!isnan(d->noise_floor))
        d->detectable = fmax(d->threshold, (errors + power_80) * d->noise_floor);
    d->disputed = fabs(loss) > d->threshold && fabs(loss) > band && d->disagree;
    if (d->disputed)
        set_verdict(d, VERDICT_NOISY, "the repetitions disagree: some are as %s as the base",
                    loss > 0 ? "fast" : "slow");
    else if (fabs(loss) > d->threshold && fabs(loss) > band)
        set_verdict(d, direction(loss),
                    "beyond the threshold of %.3g %%, but with %s and %s: measure again to confirm",
                    100 * d->threshold, few, history);
    else if (fabs(loss) > d->threshold)
        set_verdict(d, VERDICT_NOISY, "within the noise of the same build (%.1f %%)", 100 * band);
    else if (!isnan(d->noise_floor) && d->detectable <= d->threshold)
        set_verdict(d, VERDICT_UNCHANGED, "below the threshold of %.3g %%, noise %.2g %%", 100 * d->threshold,
                    100 * band);
    else
        set_verdict(d, VERDICT_NOISY,
                    "insufficient evidence: below the threshold of %.3g %%, but with %s and %s",
                    100 * d->threshold, few, history);
}

/* Whether the repetitions of the two sides differ significantly, and by more than the error of the factor
 * that all cells share; if not, `doubt` says what does not suffice. With many cells and few repetitions no p
 * survives the adjustment, however large the change: then the unadjusted p is used, and the reason says so.
 */
static bool sides_differ(const struct compare_options *o, size_t tested, const struct delta *d, bool *plain,
                         char doubt[static DOUBT_MAX])
{
    double floor = stats_mann_whitney_floor((size_t)d->base_n, (size_t)d->now_n);
    bool bootstrap = d->method == METHOD_BOOTSTRAP;
    *doubt = '\0';
    *plain = floor * (double)tested > o->fdr;
    if (!(*plain ? d->p <= alpha : d->p_adjusted <= o->fdr))
        snprintf(doubt, DOUBT_MAX, ": not significant");
    else if (bootstrap && !(d->ratio_low > 1 || d->ratio_high < 1))
        snprintf(doubt, DOUBT_MAX, ": but the interval of the ratio, %.3f to %.3f, contains 1", d->ratio_low,
                 d->ratio_high);
    else if (!bootstrap && fabs(log(d->ratio)) <= 1.96 * d->common_error)
        snprintf(doubt, DOUBT_MAX, ": but the factor that all cells share is not known better (%.1f %%)",
                 196 * d->common_error);
    return !*doubt;
}

static void decide_repetitions(const struct compare_options *o, size_t tested, struct delta *d, double loss)
{
    bool plain;
    char doubt[DOUBT_MAX];
    bool differ = sides_differ(o, tested, d, &plain, doubt);
    const char *name = d->method == METHOD_BOOTSTRAP ? "Mann-Whitney and bootstrap interval" : "Mann-Whitney";
    const char *adjusted = plain ? " (not adjusted: n too small)" : "";
    double p = plain ? d->p : d->p_adjusted;
    if (fabs(loss) > d->threshold && fabs(loss) <= 2 * M_SQRT2 * d->between_runs)
        set_verdict(d, VERDICT_NOISY, "runs of the same build differ by as much (A/A spread %.1f %%)",
                    100 * d->between_runs);
    else if (fabs(loss) > d->threshold && differ)
        set_verdict(d, direction(loss), "%s, n = %d and %d, p = %.2g%s, beyond the threshold of %.3g %%",
                    name, d->base_n, d->now_n, p, adjusted, 100 * d->threshold);
    else if (fabs(loss) > d->threshold)
        set_verdict(d, VERDICT_NOISY, "%s, n = %d and %d, p = %.2g%s%s", name, d->base_n, d->now_n, p,
                    adjusted, doubt);
    else if (d->detectable <= d->threshold)
        set_verdict(d, VERDICT_UNCHANGED, "below the threshold of %.3g %%, n = %d and %d", 100 * d->threshold,
                    d->base_n, d->now_n);
    else
        set_verdict(d, VERDICT_NOISY,
                    "below the threshold of %.3g %%, but with n = %d and %d only changes of %.1f %% and more"
                    " would be found",
                    100 * d->threshold, d->base_n, d->now_n, 100 * d->detectable);
}

static void decide_ranks(const struct compare_options *o, size_t tested, struct delta *d)
{
    bool plain;
    char doubt[DOUBT_MAX];
    bool differ = sides_differ(o, tested, d, &plain, doubt);
    bool worse = (d->now_median > d->reference) == (metric_info(d->metric)->better == METRIC_LESS);
    set_verdict(d, differ ? direction(worse ? 1 : -1) : VERDICT_NOISY,
                "there is no ratio to 0; Mann-Whitney, n = %d and %d, p = %.2g%s%s", d->base_n, d->now_n,
                plain ? d->p : d->p_adjusted, plain ? " (not adjusted: n too small)" : "", doubt);
}

/* What the reader has to know of where the cell was measured. */
static void add_place(struct delta *d)
{
    size_t n = strlen(d->reason);
    if (d->other_device)
        return;
    if (d->gpus > 1)
        n += (size_t)snprintf(d->reason + n, sizeof d->reason - n, "; the median of %zu GPUs", d->gpus);
    if (n < sizeof d->reason && d->gpus > 1 && d->gpus_worse + d->gpus_better > 0)
        snprintf(d->reason + n, sizeof d->reason - n, " (%zu worse, %zu better)", d->gpus_worse,
                 d->gpus_better);
}

static void decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d);

/* A cell that stayed where it was may not have changed, but lack the code that others share and that did. */
static void doubt_factor(struct delta *d)
{
    double measured = delta_measured(d) - 1;
    bool changed = d->verdict == VERDICT_REGRESSED || d->verdict == VERDICT_IMPROVED;
    d->stayed = changed && (d->factor_is_open || d->own_is_open) && fabs(measured) <= d->threshold;
    if (d->stayed)
        set_verdict(
            d, VERDICT_NOISY,
            "as measured, it has changed by %+.1f %%: the rest is what other cells have in common, which "
            "may be due to code that it does not share",
            100 * measured);
}

void judge_decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d)
{
    decide(o, tested, limit, d);
    doubt_factor(d);
    add_place(d);
}

static void decide(const struct compare_options *o, size_t tested, struct t_limit *limit, struct delta *d)
{
    double loss = loss_of(d);
    bool zero = d->reference == 0 && d->now_median == 0;
    bool small =
        zero || (!o->ratio_alone && fabs(d->now_median - d->reference) <= metric_info(d->metric)->least);
    switch (d->method) {
    case METHOD_NONE:
        snprintf(d->reason, sizeof d->reason, "%s",
                 d->history_n > 0 && d->now_n ? "too few nights of history" : "one side has no measurement");
        d->verdict = VERDICT_NOISY;
        return;
    case METHOD_EXACT:
        decide_exact(d);
        return;
    case METHOD_THRESHOLD:
    case METHOD_MANN_WHITNEY:
    case METHOD_BOOTSTRAP:
    case METHOD_NIGHTS:
    case METHOD_COUNT:
        break;
    }
    if (isnan(loss) && !small && !delta_by_ranks(d))
        set_verdict(d, VERDICT_NOISY, "no ratio: a value is not positive");
    else if (d->other_device)
        set_verdict(d, VERDICT_NOISY, "measured on a different GPU than %s: GPUs of one model differ",
                    d->against == REFERENCE_LEVEL ? "the nights before" : "the base");
    else if (small) {
        d->negligible = !zero && !(fabs(loss) <= d->threshold);
        if (d->now_median == d->reference)
            set_verdict(d, VERDICT_UNCHANGED, "the value is the same");
        else
            set_verdict(d, VERDICT_UNCHANGED,
                        "the difference is within %g %s, which never matters for this metric",
                        metric_info(d->metric)->least, metric_info(d->metric)->unit);
    } else if (isnan(loss))
        decide_ranks(o, tested, d);
    else if (d->method == METHOD_NIGHTS)
        decide_nights(o, tested, limit, d, loss);
    else if (d->method == METHOD_THRESHOLD)
        decide_few(limit, d, loss);
    else
        decide_repetitions(o, tested, d, loss);
}
