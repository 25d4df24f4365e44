#include "results/judge/within.h"

#include "common/base/alloc.h"
#include "results/judge/nights/places.h"
#include "results/judge/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The level of the interval, and of the ranks beside it. */
static const double alpha = 0.05;

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
static void make_side(const struct run_data *run, size_t reference, bool as_reference, struct run_data *out)
{
    *out = (struct run_data){.info = run->info, .primary = run->primary};
    size_t tests = run->n_tests * (as_reference ? run->n_variants : 1);
    out->variants = xcalloc(run->n_variants, sizeof *out->variants);
    out->tests = xcalloc(tests, sizeof *out->tests);
    for (size_t i = 0; i < run->n_variants; i++) {
        size_t other = run_data_counterpart(run, i, reference);
        if (i == other || other == run->n_variants)
            continue;
        struct run_variant *v = &out->variants[out->n_variants++];
        *v = run->variants[as_reference ? other : i];
        memcpy(v->name, run->variants[i].name, sizeof v->name);
        take_tests(run, as_reference ? other : i, out);
    }
    run_data_make_cells(out);
}

enum verdict within_verdict(const struct variant_delta *d, double threshold)
{
    if (d->apart && !(fabs(log(d->factor)) > log1p(WITHIN_APART)))
        return VERDICT_NOISY;
    if (d->negligible)
        return d->hidden && fabs(log(d->factor)) > log1p(threshold) ? VERDICT_NOISY : VERDICT_UNCHANGED;
    switch (pair_differ(&d->estimate, threshold)) {
    case PAIR_SAME:
        return VERDICT_UNCHANGED;
    case PAIR_LESS:
    case PAIR_MORE:
        return d->factor > 1 ? VERDICT_IMPROVED : VERDICT_REGRESSED;
    case PAIR_OPEN:
        break;
    }
    return VERDICT_NOISY;
}

static enum reason_code reason_of(const struct variant_delta *v, double threshold)
{
    if (v->negligible && !v->apart)
        return REASON_NEGLIGIBLE;
    switch (pair_differ(&v->estimate, threshold)) {
    case PAIR_SAME:
        return REASON_BELOW;
    case PAIR_LESS:
    case PAIR_MORE:
        return REASON_CHANGED;
    case PAIR_OPEN:
        break;
    }
    bool beyond = fabs(log(v->factor)) > log1p(threshold);
    return beyond ? REASON_NOT_SIGNIFICANT : REASON_INSUFFICIENT;
}

/* Gives every cell of a measured metric the verdict that the tables of the run show. */
static void apply_rule(const struct run_data *run, size_t reference, double threshold, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i];
        const struct run_variant *v = run_data_variant(run, d->variant);
        if (!v || metric_info(d->metric)->exact || !isfinite(d->estimate.factor))
            continue;
        struct variant_delta pair =
            compare_pair(run, (size_t)(v - run->variants), reference, d->context, d->metric);
        if (d->metric == c->primary)
            c->verdicts[d->verdict]--;
        d->estimate.threshold = threshold;
        d->estimate.detectable = NAN; /* it was of another rule */
        d->estimate.reach = isfinite(pair.factor_error) ? pair_reach(&pair.estimate) : (double)NAN;
        d->doubts.apart = pair.apart;
        d->verdict = within_verdict(&pair, threshold);
        d->reason = reason_of(&pair, threshold);
        if (d->metric == c->primary)
            c->verdicts[d->verdict]++;
    }
}

void compare_within(const struct run_data *run, size_t reference, const struct compare_options *options,
                    struct comparison *out)
{
    AUTO(run_data_release) struct run_data base = {0}, now = {0};
    struct compare_options o = *options;
    o.same_session = o.within_run = true;
    make_side(run, reference, true, &base);
    make_side(run, reference, false, &now);
    now.unmeasured = xmemdup(run->unmeasured, run->n_unmeasured * sizeof *run->unmeasured);
    now.n_unmeasured = run->n_unmeasured;
    compare_runs(&base, &now, NULL, &o, out);
    apply_rule(run, reference, options->regression, out);
    snprintf(out->base_id, sizeof out->base_id, "%s", run->variants[reference].name);
}

struct pair_estimate cells_estimate(const struct run_data *base_run, const struct cell *base,
                                    const struct run_data *now_run, const struct cell *now, enum metric m)
{
    AUTO_FREE double *values = xmalloc((base->count + now->count + 1) * sizeof *values);
    size_t n = run_data_values(base_run, base, m, values);
    size_t k = run_data_values(now_run, now, m, values + n);
    return pair_estimate(&(struct pair){.base = values, .base_n = n, .now = values + n, .now_n = k}, alpha);
}

/* Whether the GPUs of both cells are known and none of them is the same. */
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
    size_t other = run_data_counterpart(run, variant, reference);
    bool known = other < run->n_variants;
    struct variant_delta d = {.variant = variant,
                              .reference = known ? other : reference,
                              .context = context,
                              .estimate = {.ratio = NAN, .error = NAN},
                              .factor = NAN,
                              .factor_error = NAN};
    const struct cell *now = run_data_cell(run, run->variants[variant].name, context);
    const struct cell *base = known ? run_data_cell(run, run->variants[other].name, context) : NULL;
    d.unlike = now != base && work_differs(run, base, run, now);
    if (!now || !base || d.unlike || !(base->median[m] > 0) || !(now->median[m] > 0))
        return d;
    d.estimate = cells_estimate(run, base, run, now, m);
    d.negligible = fabs(now->median[m] - base->median[m]) <= least_difference(m, d.estimate.error > 0);
    d.hidden = d.negligible && metric_info(m)->kind != METRIC_OF_EXTRA;
    d.apart = are_apart(run, now, base, m);
    d.factor = metric_info(m)->better == METRIC_LESS ? 1 / d.estimate.ratio : d.estimate.ratio;
    d.factor_error = d.factor * d.estimate.error;
    return d;
}

struct variant_delta *compare_variants(const struct run_data *run, size_t reference, enum metric m)
{
    struct variant_delta *out = xmalloc(run->n_cells * sizeof *out);
    for (size_t i = 0; i < run->n_cells; i++)
        out[i] = compare_pair(run, run->cells[i].variant, reference, run->cells[i].context, m);
    return out;
}
