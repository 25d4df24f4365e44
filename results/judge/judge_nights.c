#include "results/judge/judge_nights.h"

#include "results/judge/nights/night_scales.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

#include <math.h>

/* What the nights' repetitions are worth beside tonight's, in degrees of freedom. */
static const double within_freedom = 8;
/* Nights contain the noise of their repetitions: estimates of both that differ by less than this say the
 * same, and taking the larger would only make the error too large. */
static const double floor_excess = 1.1;
static const double drift_share = 0.5;
/* A cell that differs by itself has to be this sure before its drift with all others is not looked at. */
static const double cells_of_a_night = 40;

struct spread {
    double error; /* relative standard error of the ratio */
    double freedom;
    enum scale_floor floor;
};

/* Relative spread of the repetitions: the nights' own, with tonight's as one more. */
static double within_spread(const struct evidence *e)
{
    double then = e->cell->within, now = NAN;
    if (e->now_n > 1)
        now = stats_sd(e->now, e->now_n) / fabs(stats_median(e->now, e->now_n));
    if (!(then > 0))
        return isfinite(now) ? now : 0;
    if (!isfinite(now))
        return then;
    double freedom = (double)(e->now_n - 1);
    return sqrt((within_freedom * then * then + freedom * now * now) / (within_freedom + freedom));
}

static double squared(double x)
{
    return x * x;
}

/* What the median of m nights adds to the variance of one night. */
static double widening(const struct nights *n, size_t m)
{
    return 1 + fmin(1, squared(stats_median_error(m)) * nights_alike(n->memory));
}

static struct spread spread_of(const struct evidence *e, double own, double pooled, size_t m)
{
    double nights = fmin(e->cell->scale.nights, NIGHTS_LEVEL_MAX), v = fmax(nights - 1, 0);
    double prior = e->nights->prior;
    double within = within_spread(e) * stats_median_error(e->now_n);
    double floors[FLOOR_COUNT] = {
        [FLOOR_NIGHTS] = (v * squared(own) + prior * squared(pooled)) / (v + prior),
        [FLOOR_WITHIN] = squared(within),
        [FLOOR_QUANTUM] = squared(e->cell->quantum) / 6,
    };
    struct spread s = {.freedom = v + prior};
    if (within > floor_excess * sqrt(floors[FLOOR_NIGHTS]))
        s.floor = FLOOR_WITHIN;
    if (floors[FLOOR_QUANTUM] > floors[s.floor])
        s.floor = FLOOR_QUANTUM;
    s.error = fmax(sqrt(floors[s.floor]), SCALE_LEAST) * sqrt(widening(e->nights, m));
    return s;
}

static void take_spread(const struct evidence *e, const struct spread *s, struct delta *d)
{
    double change = log(d->estimate.ratio), reach = t_limit_of(e->limit, 0.05, s->freedom) * s->error;
    d->estimate.z = change / s->error;
    d->estimate.freedom = s->freedom;
    d->estimate.floor = s->floor;
    d->estimate.p = stats_t_p(d->estimate.z, s->freedom);
    d->estimate.noise_floor = s->error;
    d->estimate.low = exp(change - reach);
    d->estimate.high = exp(change + reach);
}

/* Whether the nights before tonight had drifted, too, at least half as far, and since which. */
static void look_since_drift(const struct night_cell *c, double drifted, double change, struct stand *out)
{
    size_t first = c->count;
    while (first > c->foreign && (c->y[first - 1] - log(drifted)) / change >= drift_share)
        first--;
    out->stands = first < c->count;
    out->since = out->stands ? c->points[first]->measured_at : 0;
}

/* A change against the base's own level that tonight's common factor hides: all cells drifted together. */
static void judge_drift(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    struct spread s = spread_of(e, e->cell->scale.y, e->nights->pooled.y, e->expected.nights);
    double change = log(d->now.median / e->expected.drifted);
    bool significant = fabs(change / s.error) > o->z_limit;
    bool found_already =
        d->estimate.p <= o->fdr / cells_of_a_night && fabs(d->estimate.ratio - 1) > d->estimate.threshold;
    if (found_already || !significant || fabs(expm1(change)) <= o->regression)
        return;
    d->reference.value = e->expected.drifted;
    d->estimate.ratio = d->now.median / d->reference.value;
    d->estimate.factor =
        metric_info(d->metric)->better == METRIC_LESS ? 1 / d->estimate.ratio : d->estimate.ratio;
    d->reference.common = 1;
    take_spread(e, &s, d);
    if (e->nights->badness * change > 0)
        look_since_drift(e->cell, e->expected.drifted, change, &d->stand);
}

/* A loss since the newest nights, which have left the level of the base. */
static void judge_current(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    bool raw = e->expected.raw, less = metric_info(d->metric)->better == METRIC_LESS;
    struct spread s = spread_of(e, raw ? e->cell->scale.y : e->cell->scale.u,
                                raw ? e->nights->pooled.y : e->nights->pooled.u, e->expected.current_nights);
    double change = log(d->now.median / e->expected.current), loss = expm1(less ? change : -change);
    double loss_since_base = less ? d->estimate.ratio - 1 : 1 - d->estimate.ratio;
    bool clear = e->expected.since_level.stands || /* the nights that it stands on widen the error */
                 stats_t_p(change / s.error, s.freedom) <= o->fdr / cells_of_a_night;
    if (loss <= d->estimate.threshold || loss_since_base > d->estimate.threshold || !clear)
        return;
    d->reference.kind = REFERENCE_LEVEL;
    d->stand = e->expected.since_level;
    d->reference.nights = (int)e->expected.current_nights;
    d->reference.value = e->expected.current;
    d->reference.common = e->expected.current_common;
    d->reference.own = e->expected.current_own;
    d->doubts.other_device = false;
    d->estimate.ratio = d->now.median / d->reference.value;
    d->estimate.factor = less ? 1 / d->estimate.ratio : d->estimate.ratio;
    take_spread(e, &s, d);
}

void judge_nights(const struct evidence *e, const struct compare_options *o, struct delta *d)
{
    bool raw = e->expected.raw;
    struct spread s = spread_of(e, raw ? e->cell->scale.y : e->cell->scale.u,
                                raw ? e->nights->pooled.y : e->nights->pooled.u, e->expected.nights);
    d->estimate.method = METHOD_NIGHTS;
    d->reference.kind = e->expected.against;
    d->reference.nights = (int)e->expected.nights;
    d->reference.common = e->expected.common;
    d->reference.own = e->expected.own;
    d->reference.control = e->expected.control;
    d->stand = e->expected.since_value;
    d->doubts.other_device = e->expected.other_device;
    d->estimate.threshold = fmin(o->practical, o->regression);
    if (isnan(d->estimate.ratio))
        return;
    take_spread(e, &s, d);
    if (isfinite(e->expected.drifted))
        judge_drift(e, o, d);
    if (isfinite(e->expected.current))
        judge_current(e, o, d);
}

double common_factor_error(const struct nights *n, const struct level *level, size_t cells, double *freedom)
{
    double v = fmax(fmin(n->factor_scale.nights, NIGHTS_LEVEL_MAX) - 1, 0);
    double of_median = n->pooled.u * stats_median_error(cells);
    *freedom = v + SCALE_PRIOR_LEAST;
    return fmax(fmax(n->factor_scale.y, of_median), SCALE_LEAST) * sqrt(widening(n, level->nights));
}
