#include "results/judge/scaling.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* What n^2 predicts. */
static double predicted(enum metric metric, double a, double b)
{
    return metric == METRIC_PREFILL_S ? (a / b) * (a / b) : (double)NAN;
}

/* The fastest and the slowest counted repetition of a cell; `values` has room for them all. */
static void range_of(const struct run_data *run, const struct cell *c, enum metric metric, double *values,
                     double *low, double *high)
{
    size_t n = run_data_values(run, c, metric, values);
    *low = *high = c->median[metric];
    for (size_t i = 0; i < n; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

static void fill_row(struct scaling *s, const struct cell *c, enum metric metric)
{
    struct scaling_row *row = &s->rows[s->count++];
    const struct scaling_row *first = &s->rows[0], *before = s->count > 1 ? row - 1 : NULL;
    *row = (struct scaling_row){
        .context = c->context,
        .value = c->median[metric],
        .tok_per_s = c->median[METRIC_TOK_PER_S],
    };
    row->factor = row->value / first->value;
    row->expected = predicted(metric, row->context, first->context);
    row->step = before ? row->value / before->value : NAN;
    row->step_expected = before ? predicted(metric, row->context, before->context) : NAN;
}

static void fit(struct scaling *s)
{
    AUTO_FREE double *n = xmalloc(2 * s->count * sizeof *n);
    double *t = n + s->count, a;
    for (size_t i = 0; i < s->count; i++) {
        n[i] = s->rows[i].context;
        t[i] = s->rows[i].value;
    }
    s->exponent = s->residual = NAN;
    stats_power_fit(n, t, s->count, &a, &s->exponent, &s->residual);
}

static size_t most_repetitions(const struct run_data *run)
{
    size_t most = 0;
    for (size_t i = 0; i < run->n_cells; i++)
        most = run->cells[i].count > most ? run->cells[i].count : most;
    return most;
}

static void scaling_of_variant(const struct run_data *run, size_t variant, enum metric metric,
                               struct scaling *s)
{
    AUTO_FREE double *values = xmalloc(most_repetitions(run) * sizeof *values);
    double low, high, high_before = NAN;
    *s = (struct scaling){.variant = variant, .rows = xcalloc(run->n_cells, sizeof *s->rows)};
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (c->variant != variant || c->context <= 0 || !(c->median[metric] > 0))
            continue;
        range_of(run, c, metric, values, &low, &high);
        fill_row(s, c, metric);
        s->rows[s->count - 1].step_low = low / high_before;
        high_before = high;
    }
    fit(s);
}

static enum metric metric_of(const struct run_data *run)
{
    for (size_t i = 0; i < run->n_cells; i++)
        if (run->cells[i].median[METRIC_PREFILL_S] > 0)
            return METRIC_PREFILL_S;
    return METRIC_KERNEL_MS;
}

void scaling_of_run(const struct run_data *run, struct scaling_set *out)
{
    *out =
        (struct scaling_set){.items = xcalloc(run->n_variants, sizeof *out->items), .metric = metric_of(run)};
    for (size_t i = 0; i < run->n_variants; i++) {
        struct scaling *s = &out->items[out->count++];
        scaling_of_variant(run, i, out->metric, s);
        if (s->count == 0)
            free(out->items[--out->count].rows);
    }
}

void scaling_set_release(struct scaling_set *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i].rows);
    free(s->items);
    *s = (struct scaling_set){0};
}
