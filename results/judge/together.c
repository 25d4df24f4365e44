#include "results/judge/together.h"

#include "common/base/alloc.h"
#include "results/judge/nights/places.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much the spread of the repetitions counts beside that of the rounds, in degrees of freedom. */
static const double within_freedom = 4;

static int by_place(const void *a, const void *b)
{
    const struct together_cell *x = a, *y = b;
    int names = strcmp(x->variant, y->variant);
    if (names)
        return names;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

void together_sort(struct together *t)
{
    if (t->cells && t->count)
        qsort(t->cells, t->count, sizeof *t->cells, by_place);
}

void together_release(struct together *t)
{
    free(t->cells);
    *t = (struct together){0};
}

const struct together_cell *together_find(const struct together *t, const char *variant, int context,
                                          enum metric m)
{
    struct together_cell key = {.context = context, .metric = m};
    snprintf(key.variant, sizeof key.variant, "%s", variant);
    return t && t->count ? bsearch(&key, t->cells, t->count, sizeof key, by_place) : NULL;
}

bool together_suffers(const struct together_cell *c, double practical)
{
    if (!c || isnan(c->low))
        return false;
    return metric_info(c->metric)->better == METRIC_LESS ? c->low > 1 + practical : c->high < 1 - practical;
}

/* What one round says about one cell. */
struct round {
    double log;
    double error; /* from the repetitions; NaN with one of each */
};

struct side {
    const struct run_data *run;
    const struct cell *cell;
};

static double median_error(const double *x, size_t n)
{
    return n < 2 ? (double)NAN : stats_sd(x, n) / stats_median(x, n) * stats_median_error(n);
}

/* Compares the cell on one GPU; false if either side has no value there. room holds the values of both. */
static bool compare_on(const struct side *alone, const struct side *all, enum metric m, uint64_t device,
                       double *room, struct round *out)
{
    size_t n = places_values(alone->run, alone->cell, m, device, room);
    double *other = room + n;
    size_t k = places_values(all->run, all->cell, m, device, other);
    double ratio = stats_median(other, k) / stats_median(room, n);
    *out = (struct round){.log = log(ratio), .error = hypot(median_error(room, n), median_error(other, k))};
    return n > 0 && k > 0 && ratio > 0 && isfinite(ratio);
}

/* The median over the GPUs that both sides used. */
static bool compare_round(const struct side *alone, const struct side *all, enum metric m, double *room,
                          struct round *out)
{
    struct places p;
    double logs[PLACES_MAX], squares = 0;
    size_t n = 0;
    places_of(alone->run, alone->cell, m, &p);
    for (size_t i = 0; i < p.count; i++) {
        struct round one;
        if (p.device[i] && compare_on(alone, all, m, p.device[i], room, &one)) {
            logs[n++] = one.log;
            squares += one.error * one.error;
        }
    }
    if (n == 0)
        return false;
    *out = (struct round){.log = stats_median(logs, n), .error = sqrt(squares) / (double)n};
    return true;
}

static void conclude(const struct round *rounds, size_t n, struct together_cell *c)
{
    double logs[TOGETHER_ROUNDS_MAX], within = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        logs[i] = rounds[i].log;
        if (isfinite(rounds[i].error)) {
            within += rounds[i].error * rounds[i].error;
            known++;
        }
    }
    double own = (double)n - 1, prior = known ? within_freedom : 0, freedom = own + prior;
    double between = n > 1 ? stats_sd(logs, n) : 0;
    c->rounds = (int)n;
    c->ratio = exp(stats_median(logs, n));
    c->low = c->high = NAN;
    if (!(freedom > 0))
        return;
    double variance = (own * between * between + (known ? prior * within / (double)known : 0)) / freedom;
    double reach = stats_t_limit(0.05, freedom) * sqrt(variance / (double)n) * (n > 2 ? 1.2533 : 1);
    c->low = c->ratio * exp(-reach);
    c->high = c->ratio * exp(reach);
}

static int gpus_at_work(const struct run_data *run)
{
    int most = 0;
    for (size_t i = 0; i < run->n_tests; i++)
        most = run->tests[i].beside > most ? run->tests[i].beside : most;
    return most + 1;
}

/* False if no round measured the cell on both sides. */
static bool measure_cell(const struct run_data *const *alone, const struct run_data *const *all, size_t n,
                         double *room, struct together_cell *c)
{
    struct round rounds[TOGETHER_ROUNDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct side a = {alone[i], run_data_cell(alone[i], c->variant, c->context)},
                          b = {all[i], run_data_cell(all[i], c->variant, c->context)};
        count += a.cell && b.cell && compare_round(&a, &b, c->metric, room, &rounds[count]);
    }
    if (count)
        conclude(rounds, count, c);
    return count > 0;
}

static void measure_cells(const struct run_data *const *alone, const struct run_data *const *all, size_t n,
                          int gpus, struct together *out)
{
    const struct run_data *first = alone[0];
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += alone[i]->n_tests + all[i]->n_tests;
    out->cells = xcalloc(first->n_cells * METRIC_COUNT + 1, sizeof *out->cells);
    AUTO_FREE double *room = xmalloc(most * sizeof *room);
    for (size_t i = 0; i < first->n_cells; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            struct together_cell *c = &out->cells[out->count];
            *c = (struct together_cell){
                .context = first->cells[i].context, .metric = (enum metric)m, .gpus = gpus};
            snprintf(c->variant, sizeof c->variant, "%s", first->variants[first->cells[i].variant].name);
            if (metric_info((enum metric)m)->better != METRIC_UNDEFINED &&
                !metric_info((enum metric)m)->exact)
                out->count += measure_cell(alone, all, n, room, c);
        }
    together_sort(out);
}

int together_measure(const struct run_data *const *alone, const struct run_data *const *all, size_t rounds,
                     struct together *out, struct err *err)
{
    int gpus = 1;
    *out = (struct together){0};
    if (rounds < 1 || rounds > TOGETHER_ROUNDS_MAX)
        return err_set(err, ERR_INPUT, "expected 1 to %d rounds, got %zu", TOGETHER_ROUNDS_MAX, rounds);
    for (size_t i = 0; i < rounds; i++)
        gpus = gpus_at_work(all[i]) > gpus ? gpus_at_work(all[i]) : gpus;
    if (gpus < 2)
        return err_set(
            err, ERR_INPUT,
            "no two tests of run %s were in flight at once: node %s has one GPU, or the others were"
            " in use",
            all[0]->info.run_id, all[0]->info.node);
    measure_cells(alone, all, rounds, gpus, out);
    if (out->count > 0)
        return 0;
    together_release(out);
    return err_set(err, ERR_INPUT, "runs %s and %s used no GPU in common: nothing to compare",
                   alone[0]->info.run_id, all[0]->info.run_id);
}
