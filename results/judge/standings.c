#include "results/judge/standings.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest number of cells with which the sign test can be significant: 2 / 2^6 = 0.03. */
enum { SIGN_TEST_MIN = 6 };

static const char *const names[PLACE_SPEED_COUNT] = {
    [PLACE_ALIKE] = "alike", [PLACE_SLOW] = "slow", [PLACE_FAST] = "fast", [PLACE_UNKNOWN] = "unknown"};

const char *place_speed_name(enum place_speed s)
{
    return names[s];
}

static const char *place_of(const struct run_test *t, enum place_kind by)
{
    return by == PLACE_NODE ? t->host : t->gpu;
}

static const char *mode_of(const struct run_test *t, enum place_kind by)
{
    return by == PLACE_NODE ? "" : t->gpu_mode;
}

static bool test_counts(const struct run_test *t, enum place_kind by, enum metric m)
{
    return *place_of(t, by) && !t->warmup && t->status == STATUS_OK && t->value[m] > 0;
}

static bool is_at(const struct run_test *t, enum place_kind by, const struct place_standing *s)
{
    return strcmp(place_of(t, by), s->place) == 0 && strcmp(mode_of(t, by), s->mode) == 0;
}

static int by_name(const void *a, const void *b)
{
    const struct place_standing *x = a, *y = b;
    int places = strcmp(x->place, y->place);
    return places ? places : strcmp(x->mode, y->mode);
}

static size_t list_places(const struct run_data *run, enum place_kind by, enum metric m,
                          struct place_standing *out)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_tests; i++) {
        const struct run_test *t = &run->tests[i];
        size_t k = 0;
        if (!test_counts(t, by, m))
            continue;
        while (k < n && !is_at(t, by, &out[k]))
            k++;
        if (k == n) {
            out[n] = (struct place_standing){
                .ratio = NAN, .ratio_low = NAN, .ratio_high = NAN, .p = NAN, .speed = PLACE_UNKNOWN};
            snprintf(out[n].place, sizeof out->place, "%s", place_of(t, by));
            snprintf(out[n++].mode, sizeof out->mode, "%s", mode_of(t, by));
        }
        out[k].tests++;
    }
    if (n)
        qsort(out, n, sizeof *out, by_name);
    return n;
}

/* The median of the place's values in the cell; NaN if it ran none of it. room: scratch for those values. */
static double median_of(const struct run_data *run, const struct cell *c, enum place_kind by, enum metric m,
                        const struct place_standing *s, double *room)
{
    size_t n = 0;
    for (size_t i = c->first; i < c->first + c->count; i++)
        if (test_counts(&run->tests[i], by, m) && is_at(&run->tests[i], by, s))
            room[n++] = run->tests[i].value[m];
    return stats_median(room, n);
}

/* The two-sided p of `heads` in n tosses of a fair coin. */
static double sign_test(int heads, int n)
{
    int least = heads < n - heads ? heads : n - heads;
    double tail = 0;
    for (int k = 0; k <= least; k++)
        tail += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * M_LN2);
    return fmin(1, 2 * tail);
}

struct measuring {
    const struct run_data *run;
    enum place_kind by;
    enum metric metric;
    struct place_standing *places;
    size_t n_places;
    double *values;  /* scratch space for a cell */
    double *medians; /* per place, in the current cell; NaN if it ran none of it */
    double *present; /* the medians that are not NaN */
    double *ratios;  /* n_cells for each machine, the first `cells` of them set */
    int *apart;      /* per place: cells in which its median differs from that of all places */
};

/* Each place is compared with the median of all places: one slow one does not move it, as it would
 * move the median of the others. */
static void measure_cell(struct measuring *x, const struct cell *c)
{
    size_t n = 0;
    bool lower = metric_info(x->metric)->better == METRIC_LESS;
    for (size_t k = 0; k < x->n_places; k++) {
        x->medians[k] = median_of(x->run, c, x->by, x->metric, &x->places[k], x->values);
        if (!isnan(x->medians[k]))
            x->present[n++] = x->medians[k];
    }
    double middle = stats_median(x->present, n);
    for (size_t k = 0; n > 1 && k < x->n_places; k++) {
        struct place_standing *h = &x->places[k];
        double own = x->medians[k];
        if (isnan(own))
            continue;
        x->ratios[k * x->run->n_cells + (size_t)h->cells++] = own / middle;
        x->apart[k] += own < middle || own > middle;
        h->worse += lower ? own > middle : own < middle;
    }
}

/* The ratios are logarithms afterwards. */
static void find_interval(double *ratios, struct place_standing *h)
{
    size_t n = (size_t)h->cells;
    for (size_t i = 0; i < n; i++)
        ratios[i] = log(ratios[i]);
    if (n < 2)
        return;
    double reach = stats_t_limit(0.05, (double)n - 1) * stats_sd(ratios, n) * stats_median_error(n);
    h->ratio_low = h->ratio * exp(-reach);
    h->ratio_high = h->ratio * exp(reach);
}

static void measure_places(struct measuring *x)
{
    size_t places = x->n_places, cells = x->run->n_cells;
    x->values = xcalloc(x->run->n_tests + 2 * places + places * cells, sizeof *x->values);
    x->apart = xcalloc(places, sizeof *x->apart);
    x->medians = x->values + x->run->n_tests;
    x->present = x->medians + places;
    x->ratios = x->present + places;
    for (size_t i = 0; i < cells; i++)
        measure_cell(x, &x->run->cells[i]);
    for (size_t k = 0; k < places; k++) {
        struct place_standing *h = &x->places[k];
        h->ratio = stats_median(x->ratios + k * cells, (size_t)h->cells);
        find_interval(x->ratios + k * cells, h);
        if (h->cells)
            h->p = sign_test(h->worse, x->apart[k]);
    }
    free(x->values);
    free(x->apart);
}

static void judge_place(struct place_standing *h, const struct compare_options *o, enum metric m)
{
    if (h->cells == 0)
        return;
    double loss = metric_info(m)->better == METRIC_LESS ? h->ratio - 1 : 1 - h->ratio;
    bool testable = h->cells >= SIGN_TEST_MIN;
    bool one_sided = h->worse == 0 || h->worse == h->cells;
    bool beyond =
        testable ? fabs(loss) > o->practical && h->p <= o->fdr : fabs(loss) > o->regression && one_sided;
    h->speed = !beyond ? PLACE_ALIKE : loss > 0 ? PLACE_SLOW : PLACE_FAST;
}

static void adjust(struct place_standing *places, size_t n)
{
    AUTO_FREE double *p = xcalloc(2 * n, sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = places[i].p;
    stats_benjamini_hochberg(p, n, p + n);
    for (size_t i = 0; i < n; i++)
        places[i].p = p[n + i];
}

struct place_standing *standings_compare(const struct run_data *run, enum place_kind by, enum metric m,
                                         const struct compare_options *options, size_t *count)
{
    struct place_standing *out = xcalloc(run->n_tests, sizeof *out);
    struct measuring x = {.run = run, .by = by, .metric = m, .places = out};
    x.n_places = *count = list_places(run, by, m, out);
    measure_places(&x);
    adjust(out, *count);
    for (size_t i = 0; i < *count; i++)
        judge_place(&out[i], options, m);
    return out;
}
