#include "results/judge/within.h"

#include "results/judge/nights/places.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the tests of one variant of `run` as those of the last variant of `out`. */
static void take_tests(const struct run_data *run, size_t variant, struct run_data *out)
{
    for (size_t i = 0; i < run->n_tests; i++)
        if (run->tests[i].variant == variant) {
            struct run_test *t = &out->tests[out->n_tests++];
            *t = run->tests[i];
            t->variant = out->n_variants - 1;
        }
}

/* A run of all variants that have a counterpart to be compared with; if `as_reference`, with the
 * counterpart's measurements under the variant's name. */
static int make_side(const struct run_data *run, size_t reference, bool as_reference, struct run_data *out,
                     struct err *err)
{
    *out = (struct run_data){.info = run->info, .primary = run->primary};
    size_t tests = run->n_tests * (as_reference ? run->n_variants : 1);
    out->variants = calloc(run->n_variants + 1, sizeof *out->variants);
    out->tests = calloc(tests + 1, sizeof *out->tests);
    if (!out->variants || !out->tests)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    for (size_t i = 0; i < run->n_variants; i++) {
        size_t other = run_data_counterpart(run, i, reference);
        if (i == other || other == run->n_variants)
            continue;
        struct run_variant *v = &out->variants[out->n_variants++];
        *v = run->variants[as_reference ? other : i];
        memcpy(v->name, run->variants[i].name, sizeof v->name);
        take_tests(run, as_reference ? other : i, out);
    }
    return run_data_make_cells(out, err);
}

/* What a variant was to measure and did not. */
static int take_unmeasured(const struct run_data *run, struct run_data *out, struct err *err)
{
    out->unmeasured = calloc(run->n_unmeasured + 1, sizeof *out->unmeasured);
    if (!out->unmeasured)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    if (run->n_unmeasured > 0)
        memcpy(out->unmeasured, run->unmeasured, run->n_unmeasured * sizeof *run->unmeasured);
    out->n_unmeasured = run->n_unmeasured;
    return 0;
}

/* The level of the interval, and of the ranks beside it. */
static const double alpha = 0.05;

double within_reach(const struct variant_delta *d)
{
    return stats_t_limit(alpha, d->freedom) * d->factor_error / d->factor;
}

enum verdict within_verdict(const struct variant_delta *d, double threshold)
{
    double size = fabs(log(d->factor)), limit = log1p(threshold);
    double band = isfinite(d->factor_error) ? within_reach(d) : 0;
    if (!isfinite(size))
        return VERDICT_NOISY;
    if (d->apart && size <= log1p(WITHIN_APART))
        return VERDICT_NOISY;
    if (d->negligible)
        return VERDICT_UNCHANGED;
    if (size > limit && size > band && !(d->p > alpha))
        return d->factor > 1 ? VERDICT_IMPROVED : VERDICT_REGRESSED;
    return size <= limit && band <= limit ? VERDICT_UNCHANGED : VERDICT_NOISY;
}

static void state_reason(const struct variant_delta *v, double threshold, struct delta *d)
{
    const struct metric_info *m = metric_info(d->metric);
    bool speed = metric_is_time(d->metric);
    double times = speed || m->better == METRIC_MORE ? v->factor : 1 / v->factor;
    int n = snprintf(d->reason, sizeof d->reason, "%.3gx the %s of the reference, threshold %.3g %%", times,
                     speed ? "speed" : m->name, 100 * threshold);
    if (isfinite(v->factor_error))
        n += snprintf(d->reason + n, sizeof d->reason - (size_t)n, ", 95 %% interval ±%.2g %%",
                      100 * within_reach(v));
    if (d->verdict == VERDICT_NOISY && v->p > alpha && fabs(log(v->factor)) > within_reach(v))
        n += snprintf(d->reason + n, sizeof d->reason - (size_t)n,
                      ", but the ranks of the repetitions do not tell (Mann-Whitney, p = %.2g)", v->p);
    if (v->apart)
        snprintf(d->reason + n, sizeof d->reason - (size_t)n,
                 "; measured on different GPUs, which may differ by %.0f %%", 100 * WITHIN_APART);
}

/* Gives every cell of a measured metric the verdict that the tables of the run show. */
static void apply_rule(const struct run_data *run, size_t reference, double threshold, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i];
        const struct run_variant *v = run_data_variant(run, d->variant);
        if (!v || metric_info(d->metric)->exact || !isfinite(d->factor))
            continue;
        struct variant_delta pair =
            compare_pair(run, (size_t)(v - run->variants), reference, d->context, d->metric);
        if (d->metric == c->primary)
            c->verdicts[d->verdict]--;
        d->threshold = threshold;
        d->detectable = NAN; /* it was of another rule */
        d->verdict = within_verdict(&pair, threshold);
        state_reason(&pair, threshold, d);
        if (d->metric == c->primary)
            c->verdicts[d->verdict]++;
    }
}

int compare_within(const struct run_data *run, size_t reference, const struct compare_options *options,
                   struct comparison *out, struct err *err)
{
    struct run_data base, now = {0};
    struct compare_options o = *options;
    o.same_session = o.within_run = true;
    int rc = make_side(run, reference, true, &base, err);
    if (rc == 0)
        rc = make_side(run, reference, false, &now, err);
    if (rc == 0)
        rc = take_unmeasured(run, &now, err);
    if (rc == 0)
        rc = compare_runs(&base, &now, NULL, &o, out, err);
    if (rc == 0)
        apply_rule(run, reference, options->regression, out);
    if (rc == 0)
        snprintf(out->base_id, sizeof out->base_id, "%s", run->variants[reference].name);
    run_data_release(&base);
    run_data_release(&now);
    return rc;
}

/* Relative standard deviation of a cell's values; NaN below two. */
static double spread_of(const struct run_data *run, const struct cell *c, enum metric m)
{
    double *values = malloc((c->count + 1) * sizeof *values);
    if (!values)
        return NAN;
    size_t n = run_data_values(run, c, m, values);
    double sd = stats_sd(values, n) / c->median[m];
    free(values);
    return sd;
}

/* NaN with so few values that no p could reach alpha. */
static double rank_p(const struct run_data *run, const struct cell *a, const struct cell *b, enum metric m)
{
    double *x = malloc((a->count + b->count + 1) * sizeof *x), p = NAN;
    if (!x)
        return NAN;
    size_t n = run_data_values(run, a, m, x), k = run_data_values(run, b, m, x + n);
    if (stats_mann_whitney_floor(n, k) <= alpha)
        p = stats_mann_whitney(x, n, x + n, k);
    free(x);
    return p;
}

double cells_ratio_error(const struct run_data *run_a, const struct cell *a, const struct run_data *run_b,
                         const struct cell *b, enum metric m)
{
    return stats_median_ratio_error(spread_of(run_a, a, m), (size_t)a->n[m], spread_of(run_b, b, m),
                                    (size_t)b->n[m]);
}

/* Both are known, and share no GPU. */
static bool are_apart(const struct run_data *run, const struct cell *a, const struct cell *b, enum metric m)
{
    struct places x, y;
    places_of(run, a, m, &x);
    places_of(run, b, m, &y);
    for (size_t i = 0; i < x.count; i++)
        if (!x.device[i] || !y.device[0] || places_have(&y, x.device[i]))
            return false;
    return true;
}

struct variant_delta compare_pair(const struct run_data *run, size_t variant, size_t reference, int context,
                                  enum metric m)
{
    struct variant_delta d = {.variant = variant,
                              .reference = reference,
                              .context = context,
                              .ratio = NAN,
                              .factor = NAN,
                              .factor_error = NAN,
                              .p = NAN};
    size_t other = run_data_counterpart(run, variant, reference);
    if (other == run->n_variants)
        return d;
    d.reference = other;
    const struct cell *now = run_data_cell(run, run->variants[variant].name, context);
    const struct cell *base = run_data_cell(run, run->variants[other].name, context);
    if (!now || !base || !(base->median[m] > 0) || !(now->median[m] > 0))
        return d;
    d.negligible = fabs(now->median[m] - base->median[m]) <= metric_info(m)->least;
    d.apart = are_apart(run, now, base, m);
    d.ratio = now->median[m] / base->median[m];
    d.factor = metric_info(m)->better == METRIC_LESS ? 1 / d.ratio : d.ratio;
    d.factor_error = d.factor * cells_ratio_error(run, now, run, base, m);
    d.freedom = (double)(now->n[m] + base->n[m]) - 2;
    d.p = rank_p(run, now, base, m);
    return d;
}

int compare_variants(const struct run_data *run, size_t reference, enum metric m, struct variant_delta **out,
                     size_t *count, struct err *err)
{
    *count = 0;
    *out = malloc((run->n_cells ? run->n_cells : 1) * sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    for (size_t i = 0; i < run->n_cells; i++)
        (*out)[(*count)++] = compare_pair(run, run->cells[i].variant, reference, run->cells[i].context, m);
    return 0;
}
