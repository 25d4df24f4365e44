#include "results/judge/strata.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the base's cell. */
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

int strata_of(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
              const struct cell *of_now, enum metric m, struct strata *out, struct err *err)
{
    struct places p;
    places_of(now, of_now, m, &p);
    size_t per_base = (of_base ? of_base->count : 0) + 1, per_now = of_now->count + 1;
    *out = (struct strata){.items = calloc(p.count, sizeof *out->items),
                           .room = malloc(p.count * (per_base + per_now) * sizeof *out->room)};
    if (!out->items || !out->room) {
        strata_release(out);
        return err_set(err, ERR_INTERNAL, "no memory for the repetitions");
    }
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
    return 0;
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

/* Logarithm of what the two sides of a GPU have in common. */
static double centre_of(const struct stratum *s)
{
    return (log(stats_median(s->base, s->base_n)) + log(stats_median(s->now, s->now_n))) / 2;
}

int strata_pool(struct strata *s, struct err *err)
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
        return 0;
    double *all = malloc((most + 1) * sizeof *all);
    if (!all)
        return err_set(err, ERR_INTERNAL, "no memory for the repetitions");
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
    return 0;
}

/* How far the median of the GPUs' effects may lie from that of all such GPUs, by how much they differ. */
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
        double change = log(each[i].ratio), loss = expm1(less ? change : -change);
        bool sure = fabs(each[i].z) > o->z_limit;
        out->gpus_worse += sure && loss > out->threshold;
        out->gpus_better += sure && -loss > out->threshold;
    }
}

void strata_combine(const struct delta *each, size_t n, const struct compare_options *o, struct delta *out)
{
    double logs[PLACES_MAX] = {0}, nows[PLACES_MAX] = {0}, owns[PLACES_MAX] = {0};
    double squares = 0, freedom = INFINITY;
    size_t showing = 0;
    for (size_t i = 0; i < n; i++) {
        logs[i] = log(each[i].ratio);
        nows[i] = each[i].now_median;
        owns[i] = log(each[i].own);
        squares += each[i].noise_floor * each[i].noise_floor;
        freedom = fmin(freedom, each[i].freedom);
    }
    double change = stats_median(logs, n), own = sqrt(squares) / (double)n, apart = between(logs, n);
    if (n > 2)
        own *= stats_median_error(n) * sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        showing += logs[i] / change >= 0.25;
    out->noise_floor = fmax(own, apart);
    out->freedom = apart > own ? fmin(freedom, (double)n + 3) : freedom;
    out->now_median = stats_median(nows, n);
    out->ratio = exp(change);
    out->reference = out->now_median / out->ratio;
    out->factor = metric_info(out->metric)->better == METRIC_LESS ? 1 / out->ratio : out->ratio;
    out->z = change / out->noise_floor;
    out->p = stats_t_p(out->z, out->freedom);
    double reach = stats_t_limit(0.05, out->freedom) * out->noise_floor;
    out->ratio_low = exp(change - reach);
    out->ratio_high = exp(change + reach);
    out->disagree = (double)showing < 0.8 * (double)n && (double)showing > 0;
    out->own = exp(stats_median(owns, n));
    count_each(each, n, o, out);
}
