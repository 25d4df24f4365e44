#include "harness/commands/measure/noise_outlier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_MIN = 4, RUNS_MAX = 64 };

static const double far_factor = 3;

struct median {
    double value;
    size_t run;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct median *)a)->value, y = ((const struct median *)b)->value;
    return (x > y) - (x < y);
}

/* The index into m, which is sorted, of the median that is far from all others, or n; and its change. */
static size_t far_one(const struct median *m, size_t n, double least, double *change)
{
    double first_gap = m[1].value - m[0].value, last_gap = m[n - 1].value - m[n - 2].value;
    bool last = last_gap > first_gap;
    size_t at = last ? n - 1 : 0;
    double nearest = m[last ? n - 2 : 1].value;
    double others = last ? m[n - 2].value - m[0].value : m[n - 1].value - m[1].value;
    *change = m[at].value / nearest - 1;
    return fabs(*change) > least && fabs(m[at].value - nearest) > far_factor * others ? at : n;
}

static size_t cell_medians(const struct run_data *const *runs, size_t n, const struct cell *cell,
                           enum metric m, struct median *out)
{
    size_t count = 0;
    const char *variant = runs[0]->variants[cell->variant].name;
    for (size_t i = 0; i < n; i++) {
        const struct cell *c = run_data_cell(runs[i], variant, cell->context);
        if (c && c->n[m] > 0)
            out[count++] = (struct median){c->median[m], i};
    }
    qsort(out, count, sizeof *out, by_value);
    return count;
}

/* Notes which run is the outlier in this cell, if any, and in which cell each run is farthest off. */
static void count_cell(const struct run_data *const *runs, size_t n, const struct cell *cell, double least,
                       struct noise_outlier *found)
{
    struct median m[RUNS_MAX];
    double change;
    size_t count = cell_medians(runs, n, cell, run_data_metric(runs[0]), m);
    size_t at = count < RUNS_MIN ? count : far_one(m, count, least, &change);
    if (at == count)
        return;
    struct noise_outlier *o = &found[m[at].run];
    if (o->cells++ > 0 && fabs(change) <= fabs(o->change))
        return;
    o->change = change;
    o->context = cell->context;
    snprintf(o->variant, sizeof o->variant, "%s", runs[0]->variants[cell->variant].name);
}

struct noise_outlier noise_outlier_find(const struct run_data *const *runs, size_t n, double least)
{
    struct noise_outlier found[RUNS_MAX] = {0}, worst = {0};
    if (n < RUNS_MIN || n > RUNS_MAX)
        return worst;
    for (size_t i = 0; i < runs[0]->n_cells; i++)
        count_cell(runs, n, &runs[0]->cells[i], least, found);
    for (size_t i = 0; i < n; i++)
        if (found[i].cells > worst.cells) {
            worst = found[i];
            worst.run = &runs[i]->info;
        }
    return worst;
}
