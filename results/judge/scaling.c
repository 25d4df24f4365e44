#include "results/judge/scaling.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

static double squared(double a, double b)
{
    return (a / b) * (a / b);
}

/* The fastest and the slowest counted repetition of a cell; `values` has room for them all. */
static void range_of(const struct run_data *run, const struct cell *c, double *values, double *low,
                     double *high)
{
    size_t n = run_data_values(run, c, METRIC_PREFILL_S, values);
    *low = *high = c->median[METRIC_PREFILL_S];
    for (size_t i = 0; i < n; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

static void fill_row(struct scaling *s, const struct cell *c)
{
    struct scaling_row *row = &s->rows[s->count++];
    const struct scaling_row *first = &s->rows[0], *before = s->count > 1 ? row - 1 : NULL;
    *row = (struct scaling_row){
        .context = c->context,
        .prefill_s = c->median[METRIC_PREFILL_S],
        .tok_per_s = c->median[METRIC_TOK_PER_S],
    };
    row->factor = row->prefill_s / first->prefill_s;
    row->expected = squared(row->context, first->context);
    row->step = before ? row->prefill_s / before->prefill_s : NAN;
    row->step_expected = before ? squared(row->context, before->context) : NAN;
}

static void fit(struct scaling *s)
{
    AUTO_FREE double *n = xmalloc(2 * s->count * sizeof *n);
    double *t = n + s->count, a;
    for (size_t i = 0; i < s->count; i++) {
        n[i] = s->rows[i].context;
        t[i] = s->rows[i].prefill_s;
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

static void scaling_of_variant(const struct run_data *run, size_t variant, struct scaling *s)
{
    AUTO_FREE double *values = xmalloc(most_repetitions(run) * sizeof *values);
    double low, high, high_before = NAN;
    *s = (struct scaling){.variant = variant, .rows = xcalloc(run->n_cells, sizeof *s->rows)};
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (c->variant != variant || c->context <= 0 || !(c->median[METRIC_PREFILL_S] > 0))
            continue;
        range_of(run, c, values, &low, &high);
        fill_row(s, c);
        s->rows[s->count - 1].step_low = low / high_before;
        high_before = high;
    }
    fit(s);
}

void scaling_of_run(const struct run_data *run, struct scaling_set *out)
{
    *out = (struct scaling_set){.items = xcalloc(run->n_variants, sizeof *out->items)};
    for (size_t i = 0; i < run->n_variants; i++) {
        struct scaling *s = &out->items[out->count++];
        scaling_of_variant(run, i, s);
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
