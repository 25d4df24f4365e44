#include "results/judge/compare_values.h"

#include "common/base/alloc.h"
#include "common/base/word.h"
#include "results/judge/judge.h"
#include "results/judge/noise.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the newest night, even if it is 0 or below, which the model of nights leaves out. */
static double last_value(const struct night_cell *c)
{
    return c && c->series->count ? c->series->points[c->series->count - 1].median : NAN;
}

static void measure_stratum(const struct comparing_cell *c, const struct stratum *s,
                            const struct compare_options *o, uint64_t device, struct delta *d)
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
    judge_measure(&e, o, d);
}

/* Measures each GPU by itself. Those that have nights speak for the cell; returns how many these are. */
static size_t measure_each(const struct comparing_cell *c, const struct strata *s,
                           const struct compare_options *o, const struct delta *d, struct delta *each)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        each[n] = *d;
        measure_stratum(c, &s->items[i], o, s->items[i].device, &each[n]);
        n += each[n].estimate.method == METHOD_NIGHTS && !each[n].doubts.other_device &&
             isfinite(each[n].estimate.z);
    }
    return n;
}

/* What describes one GPU's evidence, and all of them together. */
static void take_first(const struct delta *first, size_t n, struct delta *d)
{
    const struct delta was = *d;
    *d = *first;
    d->base.n = was.base.n;
    d->now.n = was.now.n;
    d->base.median = was.base.median;
    d->estimate.gpus = n;
}

static void measure_several(const struct comparing_cell *c, struct strata *s, const struct compare_options *o,
                            struct delta *d)
{
    AUTO_FREE struct delta *each = xcalloc(s->count, sizeof *each);
    size_t gpus = s->count, n = measure_each(c, s, o, d, each);
    if (n > 0) {
        take_first(&each[0], n, d);
        strata_combine(each, n, o, d);
        return;
    }
    strata_pool(s);
    measure_stratum(c, &s->items[0], o, s->items[0].device, d);
    d->estimate.gpus = gpus;
}

void compare_cell_values(const struct comparing_cell *c, const struct compare_options *o, struct delta *d)
{
    const struct tonight *t = c->tonight;
    AUTO(strata_release) struct strata s = {0};
    strata_of(t->base, c->base, t->now, c->now, d->metric, &s);
    if (s.count > 1 && !metric_info(d->metric)->exact) {
        measure_several(c, &s, o, d);
        return;
    }
    measure_stratum(c, &s.items[0], o, s.items[0].device, d);
    d->estimate.gpus = s.items[0].device ? 1 : 0;
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

static int compiled_in(const struct run_data *run, const struct cell *c)
{
    int tests = 0;
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (t->warmup || t->status != STATUS_OK)
            continue;
        if (t->compiled == RUN_UNKNOWN)
            return RUN_UNKNOWN;
        tests += t->compiled > 0;
    }
    return tests;
}

/* A warm-up test of the cell would have had it. */
static bool may_have_first(const struct run_data *base, const struct run_data *now, const struct cell *c,
                           const struct delta *d)
{
    const char *then = base->info.source_sha256, *is = now->info.source_sha256;
    return d->now.n == 1 && d->now.compiled == RUN_UNKNOWN && c->count == (size_t)c->counted && *then &&
           *is && strcmp(then, is) != 0 && metric_is_time(d->metric);
}

/* Returns the name of the cell's GPU, or "" if it has several. */
static const char *name_gpu(const struct run_data *run, const struct cell *c, enum metric m)
{
    struct places p;
    places_of(run, c, m, &p);
    return p.count == 1 ? word(places_name(run, c, p.device[0])) : "";
}

void set_places(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
                const struct cell *of_now, struct delta *d)
{
    d->now.beside = most_beside(now, of_now);
    d->now.compiled = compiled_in(now, of_now);
    d->now.gpu = name_gpu(now, of_now, d->metric);
    if (!of_base)
        return;
    d->base.beside = most_beside(base, of_base);
    d->base.compiled = compiled_in(base, of_base);
    d->doubts.first = may_have_first(base, now, of_now, d);
    d->base.gpu = name_gpu(base, of_base, d->metric);
}
