#include "results/judge/measure_noise.h"

#include "common/base/alloc.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 64, ROBUST_RUNS_MIN = 4 };

static int check_same(const struct run_info *a, const struct run_info *b, struct err *err)
{
    const char *what = strcmp(a->node, b->node) != 0                     ? "nodes"
                       : strcmp(a->ticket, b->ticket) != 0               ? "plans"
                       : strcmp(a->mode, b->mode) != 0                   ? "modes"
                       : strcmp(a->source_sha256, b->source_sha256) != 0 ? "sources"
                                                                         : NULL;
    return what ? err_set(err, ERR_INPUT,
                          "runs %s and %s have different %s: an A/A comparison needs identical ones",
                          a->run_id, b->run_id, what)
                : 0;
}

/* The same sources may become other code: by another compiler, or other commands of the plan. */
static int check_code(const struct run_data *a, const struct run_data *b, struct err *err)
{
    for (size_t i = 0; i < a->n_variants; i++) {
        const struct run_variant *x = &a->variants[i], *y = run_data_variant(b, x->name);
        if (y && *x->code_sha256 && *y->code_sha256 && strcmp(x->code_sha256, y->code_sha256) != 0)
            return err_set(err, ERR_INPUT,
                           "runs %s and %s have different code of %s: an A/A comparison needs identical ones",
                           a->info.run_id, b->info.run_id, x->name);
    }
    return 0;
}

/* Of few runs one may have been disturbed: the largest deviation of four and more says nothing about the
 * others. */
static double spread_of(const double *medians, size_t n)
{
    double level = stats_median(medians, n), deviations[RUNS_MAX];
    if (n < ROBUST_RUNS_MIN)
        return n > 1 ? stats_sd(medians, n) / level : NAN;
    for (size_t i = 0; i < n; i++)
        deviations[i] = fabs(medians[i] - level) / level;
    return scale_of_most(deviations, n) * sqrt((double)n / (double)(n - 1));
}

static void measure_cell(const struct run_data *const *runs, size_t n, struct noise_cell *c, double *scratch)
{
    double medians[RUNS_MAX], squares = 0;
    size_t freedom = 0;
    for (size_t i = 0; i < n; i++) {
        const struct cell *cell = run_data_cell(runs[i], c->variant, c->context);
        if (!cell || cell->n[c->metric] == 0)
            continue;
        size_t values = run_data_values(runs[i], cell, c->metric, scratch);
        medians[c->runs++] = cell->median[c->metric];
        if (values > 1) {
            squares += pow(stats_sd(scratch, values) / cell->median[c->metric], 2) * (double)(values - 1);
            freedom += values - 1;
        }
    }
    size_t count = (size_t)c->runs;
    c->spread = spread_of(medians, count);
    c->within = freedom ? sqrt(squares / (double)freedom) : NAN;
}

static void measure_cells(const struct run_data *const *runs, size_t n, struct noise *out)
{
    const struct run_data *first = runs[0];
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = runs[i]->n_tests > most ? runs[i]->n_tests : most;
    out->cells = xcalloc(first->n_cells * METRIC_COUNT + 1, sizeof *out->cells);
    AUTO_FREE double *scratch = xmalloc(most * sizeof *scratch);
    for (size_t i = 0; i < first->n_cells; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            struct noise_cell *c = &out->cells[out->count];
            *c = (struct noise_cell){.context = first->cells[i].context, .metric = (enum metric)m};
            snprintf(c->variant, sizeof c->variant, "%s", first->variants[first->cells[i].variant].name);
            measure_cell(runs, n, c, scratch);
            out->count += c->runs > 1 && isfinite(c->spread);
        }
    noise_sort(out);
}

/* By the threshold alone, whatever else a comparison would ask for: as measured, without what the cells have
 * in common. */
static bool is_alarm(const struct delta *d, const struct compare_options *o)
{
    const struct metric_info *m = metric_info(d->metric);
    double change = d->now.median / d->base.median - 1;
    if (d->estimate.method == METHOD_EXACT)
        return d->verdict != VERDICT_UNCHANGED;
    if (!(fabs(d->now.median - d->base.median) > d->estimate.least))
        return false;
    return !isfinite(change) ||
           fabs(change) > ((change > 0) == (m->better == METRIC_LESS) ? o->regression : o->improvement);
}

static void count_alarms(const struct run_data *a, const struct run_data *b, const struct compare_options *o,
                         struct noise *out)
{
    AUTO(comparison_release) struct comparison c = {0};
    compare_runs(a, b, NULL, o, &c);
    for (size_t i = 0; i < c.count; i++) {
        const struct delta *d = &c.deltas[i];
        struct noise_cell *cell = noise_find(out, d->variant, d->context, d->metric);
        bool alarm = is_alarm(d, o);
        if (!cell || d->estimate.method == METHOD_NONE)
            continue;
        cell->comparisons++;
        cell->alarms += alarm;
        if (d->metric == c.primary) {
            out->comparisons++;
            out->alarms += alarm;
        }
    }
}

int noise_measure(const struct run_data *const *runs, size_t n, const struct compare_options *options,
                  struct noise *out, struct err *err)
{
    *out = (struct noise){0};
    if (n < 2 || n > RUNS_MAX)
        return err_set(err, ERR_INPUT, "noise needs 2 to %d runs of the same build, got %zu", RUNS_MAX, n);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++) /* the code of a run may be unknown */
            if (check_same(&runs[j]->info, &runs[i]->info, err) != 0 ||
                check_code(runs[j], runs[i], err) != 0)
                return -1;
    measure_cells(runs, n, out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j)
                count_alarms(runs[i], runs[j], options, out);
    return 0;
}
