#include "results/judge/strata.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cell of the base, and where it was measured. */
struct base_side {
    const struct run_data *run;
    const struct cell *cell;
    struct places places;
    enum metric metric;
};

static void take_base(const struct base_side *b, struct stratum *s)
{
    bool unknown = !s->device || b->places.device[0] == 0;
    s->moved = !unknown && !places_have(&b->places, s->device);
    s->base_n = places_values(b->run, b->cell, b->metric, unknown || s->moved ? 0 : s->device, s->base);
}

static void drop_moved(struct strata *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].moved)
            s->items[kept++] = s->items[i];
    if (kept)
        s->count = kept;
}

void strata_of(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
               const struct cell *of_now, enum metric m, struct strata *out)
{
    struct places p;
    places_of(now, of_now, m, &p);
    size_t per_base = (of_base ? of_base->count : 0) + 1, per_now = of_now->count + 1;
    *out = (struct strata){.items = xcalloc(p.count, sizeof *out->items),
                           .room = xmalloc(p.count * (per_base + per_now) * sizeof *out->room)};
    struct base_side b = {.run = base, .cell = of_base, .metric = m};
    places_of(base, of_base, m, &b.places);
    double *room = out->room;
    for (out->count = 0; out->count < p.count; out->count++) {
        struct stratum *s = &out->items[out->count];
        *s = (struct stratum){.device = p.device[out->count], .base = room, .now = room + per_base};
        room += per_base + per_now;
        s->now_n = places_values(now, of_now, m, s->device, s->now);
        if (of_base)
            take_base(&b, s);
    }
    drop_moved(out);
}

void strata_release(struct strata *s)
{
    free(s->items);
    free(s->room);
    *s = (struct strata){0};
}

double strata_log_ratio(const struct strata *s)
{
    double logs[PLACES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct stratum *x = &s->items[i];
        double ratio = stats_median(x->now, x->now_n) / stats_median(x->base, x->base_n);
        if (!x->moved && ratio > 0 && isfinite(ratio))
            logs[n++] = log(ratio);
    }
    return stats_median(logs, n);
}

/* The logarithm of the middle between the two sides on a GPU. */
static double centre_of(const struct stratum *s)
{
    return (log(stats_median(s->base, s->base_n)) + log(stats_median(s->now, s->now_n))) / 2;
}

void strata_pool(struct strata *s)
{
    double centres[PLACES_MAX], common;
    size_t base_n = 0, now_n = 0, most_base = 0, most = 0;
    for (size_t i = 0; i < s->count; i++) {
        centres[i] = centre_of(&s->items[i]);
        most_base += s->items[i].base_n;
        most += s->items[i].base_n + s->items[i].now_n;
    }
    common = stats_median(centres, s->count);
    if (s->count < 2 || !isfinite(common))
        return;
    double *all = xmalloc(most * sizeof *all);
    double *now = all + most_base;
    for (size_t i = 0; i < s->count; i++) {
        const struct stratum *x = &s->items[i];
        double scale = exp(common - centres[i]);
        for (size_t k = 0; isfinite(scale) && k < x->base_n; k++)
            all[base_n++] = x->base[k] * scale;
        for (size_t k = 0; isfinite(scale) && k < x->now_n; k++)
            now[now_n++] = x->now[k] * scale;
    }
    free(s->room);
    s->room = all;
    struct stratum *one = &s->items[0];
    one->base = all;
    one->now = now;
    one->base_n = base_n;
    one->now_n = now_n;
    one->device = 0;
    s->count = 1;
}

/* The standard error of the median over the GPUs, estimated from how much their effects differ. */
static double between(const double *logs, size_t n)
{
    double away[PLACES_MAX], middle = stats_median(logs, n);
    if (n < 4)
        return n < 2 ? 0 : stats_sd(logs, n) * stats_median_error(n);
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(logs[i] - middle);
    return 1.4826 * stats_median(away, n) * stats_median_error(n);
}

static void count_each(const struct delta *each, size_t n, const struct compare_options *o, struct delta *out)
{
    bool less = metric_info(out->metric)->better == METRIC_LESS;
    for (size_t i = 0; i < n; i++) {
        double change = log(each[i].estimate.ratio), loss = expm1(less ? change : -change);
        bool sure = fabs(each[i].estimate.z) > o->z_limit;
        out->estimate.gpus_worse += sure && loss > out->estimate.threshold;
        out->estimate.gpus_better += sure && -loss > out->estimate.threshold;
    }
}

void strata_combine(const struct delta *each, size_t n, const struct compare_options *o, struct delta *out)
{
    double logs[PLACES_MAX] = {0}, nows[PLACES_MAX] = {0}, owns[PLACES_MAX] = {0};
    double squares = 0, freedom = INFINITY;
    size_t showing = 0;
    for (size_t i = 0; i < n; i++) {
        logs[i] = log(each[i].estimate.ratio);
        nows[i] = each[i].now.median;
        owns[i] = log(each[i].reference.own);
        squares += each[i].estimate.noise_floor * each[i].estimate.noise_floor;
        freedom = fmin(freedom, each[i].estimate.freedom);
    }
    double change = stats_median(logs, n), own = sqrt(squares) / (double)n, apart = between(logs, n);
    if (n > 2)
        own *= stats_median_error(n) * sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        showing += logs[i] / change >= 0.25;
    out->estimate.noise_floor = fmax(own, apart);
    out->estimate.freedom = apart > own ? fmin(freedom, (double)n + 3) : freedom;
    out->now.median = stats_median(nows, n);
    out->estimate.ratio = exp(change);
    out->reference.value = out->now.median / out->estimate.ratio;
    out->estimate.factor =
        metric_info(out->metric)->better == METRIC_LESS ? 1 / out->estimate.ratio : out->estimate.ratio;
    out->estimate.z = change / out->estimate.noise_floor;
    out->estimate.p = stats_t_p(out->estimate.z, out->estimate.freedom);
    double reach = stats_t_limit(0.05, out->estimate.freedom) * out->estimate.noise_floor;
    out->estimate.low = exp(change - reach);
    out->estimate.high = exp(change + reach);
    out->doubts.disagree = (double)showing < 0.8 * (double)n && (double)showing > 0;
    out->reference.own = exp(stats_median(owns, n));
    count_each(each, n, o, out);
}
