#include "results/judge/scaling.h"

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

static int fit(struct scaling *s, struct err *err)
{
    double *n = malloc((2 * s->count + 1) * sizeof *n), a;
    if (!n)
        return err_set(err, ERR_INTERNAL, "no memory for the scaling");
    double *t = n + s->count;
    for (size_t i = 0; i < s->count; i++) {
        n[i] = s->rows[i].context;
        t[i] = s->rows[i].prefill_s;
    }
    s->exponent = s->residual = NAN;
    stats_power_fit(n, t, s->count, &a, &s->exponent, &s->residual);
    free(n);
    return 0;
}

static size_t most_repetitions(const struct run_data *run)
{
    size_t most = 0;
    for (size_t i = 0; i < run->n_cells; i++)
        most = run->cells[i].count > most ? run->cells[i].count : most;
    return most;
}

static int scaling_of_variant(const struct run_data *run, size_t variant, struct scaling *s, struct err *err)
{
    double *values = malloc((most_repetitions(run) + 1) * sizeof *values), low, high, high_before = NAN;
    *s = (struct scaling){.variant = variant, .rows = calloc(run->n_cells + 1, sizeof *s->rows)};
    if (!s->rows || !values) {
        free(values);
        return err_set(err, ERR_INTERNAL, "no memory for the scaling");
    }
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (c->variant != variant || c->context <= 0 || !(c->median[METRIC_PREFILL_S] > 0))
            continue;
        range_of(run, c, values, &low, &high);
        fill_row(s, c);
        s->rows[s->count - 1].step_low = low / high_before;
        high_before = high;
    }
    free(values);
    return fit(s, err);
}

int scaling_of_run(const struct run_data *run, struct scaling_set *out, struct err *err)
{
    *out = (struct scaling_set){.items = calloc(run->n_variants + 1, sizeof *out->items)};
    if (!out->items)
        return err_set(err, ERR_INTERNAL, "no memory for the scaling");
    for (size_t i = 0; i < run->n_variants; i++) {
        struct scaling *s = &out->items[out->count++];
        if (scaling_of_variant(run, i, s, err) != 0) {
            scaling_set_release(out);
            return -1;
        }
        if (s->count == 0)
            free(out->items[--out->count].rows);
    }
    return 0;
}

void scaling_set_release(struct scaling_set *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i].rows);
    free(s->items);
    *s = (struct scaling_set){0};
}
