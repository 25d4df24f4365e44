#include "results/judge/compare_values.h"

#include "results/judge/judge.h"
#include "results/judge/noise.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the newest night, also where it is 0 or below, which the model of nights leaves out. */
static double last_value(const struct night_cell *c)
{
    return c && c->series->count ? c->series->points[c->series->count - 1].median : NAN;
}

static int measure_stratum(const struct comparing_cell *c, const struct stratum *s,
                           const struct compare_options *o, uint64_t device, struct delta *d, struct err *err)
{
    const struct tonight *t = c->tonight;
    struct evidence e = {
        .base = s->base,
        .base_n = s->base_n,
        .now = s->now,
        .now_n = s->now_n,
        .noise = noise_spread(o->noise, d->variant, d->context, d->metric),
        .other_device = s->moved,
        .limit = c->limit,
        .exact = last_value(nights_find_on(&t->nights, d->variant, d->context, device)),
    };
    tonight_expect(t, c->base, c->now, device, &e, d);
    return judge_measure(&e, o, d, err);
}

/* Each GPU by itself; those with nights speak for the cell, if there are any. Returns how many, or -1. */
static int measure_each(const struct comparing_cell *c, const struct strata *s,
                        const struct compare_options *o, const struct delta *d, struct delta *each,
                        struct err *err)
{
    int n = 0;
    for (size_t i = 0; i < s->count; i++) {
        each[n] = *d;
        if (measure_stratum(c, &s->items[i], o, s->items[i].device, &each[n], err) != 0)
            return -1;
        n += each[n].method == METHOD_NIGHTS && !each[n].other_device && isfinite(each[n].z);
    }
    return n;
}

/* What describes one GPU's evidence, and all of them together. */
static void take_first(const struct delta *first, size_t n, struct delta *d)
{
    const struct delta was = *d;
    *d = *first;
    d->base_n = was.base_n;
    d->now_n = was.now_n;
    d->base_median = was.base_median;
    d->gpus = n;
}

static int measure_several(const struct comparing_cell *c, struct strata *s, const struct compare_options *o,
                           struct delta *d, struct err *err)
{
    struct delta *each = calloc(s->count, sizeof *each);
    if (!each)
        return err_set(err, ERR_INTERNAL, "no memory for the GPUs of a cell");
    int n = measure_each(c, s, o, d, each, err), rc = n < 0 ? -1 : 0;
    if (n > 0) {
        take_first(&each[0], (size_t)n, d);
        strata_combine(each, (size_t)n, o, d);
    } else if (n == 0) {
        size_t gpus = s->count;
        rc = strata_pool(s, err);
        if (rc == 0)
            rc = measure_stratum(c, &s->items[0], o, s->items[0].device, d, err);
        d->gpus = gpus;
    }
    free(each);
    return rc;
}

int compare_cell_values(const struct comparing_cell *c, const struct compare_options *o, struct delta *d,
                        struct err *err)
{
    const struct tonight *t = c->tonight;
    struct strata s;
    if (strata_of(t->base, c->base, t->now, c->now, d->metric, &s, err) != 0)
        return -1;
    int rc;
    if (s.count > 1 && !metric_info(d->metric)->exact)
        rc = measure_several(c, &s, o, d, err);
    else {
        rc = measure_stratum(c, &s.items[0], o, s.items[0].device, d, err);
        d->gpus = s.items[0].device ? 1 : 0;
    }
    strata_release(&s);
    return rc;
}

static int most_beside(const struct run_data *run, const struct cell *c)
{
    int most = RUN_UNKNOWN;
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (!t->warmup && t->status == STATUS_OK && t->beside > most)
            most = t->beside;
    }
    return most;
}

/* "" if there are several. */
static void name_gpu(const struct run_data *run, const struct cell *c, enum metric m, char *out, size_t size)
{
    struct places p;
    places_of(run, c, m, &p);
    snprintf(out, size, "%s", p.count == 1 ? places_name(run, c, p.device[0]) : "");
}

void set_places(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
                const struct cell *of_now, struct delta *d)
{
    d->beside = most_beside(now, of_now);
    name_gpu(now, of_now, d->metric, d->gpu, sizeof d->gpu);
    if (!of_base)
        return;
    d->base_beside = most_beside(base, of_base);
    name_gpu(base, of_base, d->metric, d->base_gpu, sizeof d->base_gpu);
}
