#include "results/judge/causes/cause_clock.h"

#include "common/base/alloc.h"
#include "results/judge/windows.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clocks that differ by less than this count as equal. */
static const double clock_least = 0.01;
/* Regressions with larger errors of the slope say too little. */
static const double error_most = 0.25;
static const double share_least = 0.1, bound_least = 0.2, bound_of_measured = 0.5;

/* A share is named only if chance alone would give it less often than this. */
static const double p_named = 0.01;

enum { NIGHTS_LEAST = 6 };

static double log_value(double v)
{
    return v > 0 ? log(v) : (double)NAN;
}

/* One number of a test; the clock of a cell is read from its logarithms over the counted OK tests. */
typedef double test_number(const struct run_test *t);

static double shader_clock(const struct run_test *t)
{
    return t->value[METRIC_SCLK_MHZ];
}

static double memory_clock(const struct run_test *t)
{
    return t->activity.mclk_mhz;
}

struct clock_reading {
    double log; /* NaN if unknown */
    double error;
};

static struct clock_reading read_clock(const struct run_data *run, const struct cell *c, test_number *number)
{
    struct clock_reading r = {.log = NAN};
    if (!c)
        return r;
    AUTO_FREE double *x = xcalloc(c->count, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        double v = log_value(number(t));
        if (!t->warmup && t->status == STATUS_OK && isfinite(v))
            x[n++] = v;
    }
    if (n > 0)
        r.log = stats_median(x, n); // NOLINT(clang-analyzer-core.CallAndMessage): n values were written
    if (n > 1)
        r.error = stats_sd(x, n) * stats_median_error(n);
    return r;
}

static double throttled_of(const struct run_data *run, const struct cell *c, char reasons[RUN_NAME_MAX])
{
    double longest = NAN;
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (t->warmup || !isfinite(t->activity.throttled_s) || t->activity.throttled_s <= longest)
            continue;
        longest = t->activity.throttled_s;
        snprintf(reasons, RUN_NAME_MAX, "%s", t->activity.throttle);
    }
    return longest;
}

static double clock_of_night(const struct history_series *clocks, int64_t run_key)
{
    for (size_t i = 0; clocks && i < clocks->count; i++)
        if (clocks->points[i].run_key == run_key)
            return log_value(clocks->points[i].median);
    return NAN;
}

/* The median clock of the nights behind the level, with its error. */
static struct clock_reading clock_of_level(const struct clock_nights *n, double *usual)
{
    struct clock_reading r = {.log = NAN};
    double x[NIGHTS_LEVEL_MAX];
    size_t count = 0;
    for (size_t i = 0; n->cell && n->level && i < n->level->nights; i++) {
        double v = clock_of_night(n->clocks, n->cell->points[n->level->members[i]]->run_key);
        if (isfinite(v))
            x[count++] = v;
    }
    if (count > 0)
        r.log = stats_median(x, count);
    if (count > 2) {
        *usual = stats_sd(x, count);
        r.error = *usual * stats_median_error(count);
    }
    return r;
}

struct sums {
    double xx, xy, yy;
    size_t nights, segments;
};

/* Adds the nights of one segment, relative to the segment's means. badness: 1 if more is slower, else -1. */
static void add_segment(const struct clock_nights *n, size_t from, size_t to, double badness, struct sums *s)
{
    double mean_x = 0, mean_y = 0, count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = from; i < to; i++) {
            double x = clock_of_night(n->clocks, n->cell->points[i]->run_key), y = badness * n->cell->y[i];
            if (!isfinite(x) || n->cell->levels.odd[i])
                continue;
            if (pass == 0) {
                mean_x += x;
                mean_y += y;
                count++;
            } else {
                s->xx += (x - mean_x) * (x - mean_x);
                s->xy += (x - mean_x) * (y - mean_y);
                s->yy += (y - mean_y) * (y - mean_y);
            }
        }
        if (pass == 0 && count < 2)
            return;
        if (pass == 0) {
            mean_x /= count;
            mean_y /= count;
        }
    }
    s->nights += (size_t)count;
    s->segments++;
}

static void measure_sensitivity(const struct clock_nights *n, enum metric m, struct clock_part *out)
{
    double badness = metric_info(m)->better == METRIC_MORE ? -1 : 1;
    struct sums s = {0};
    if (!n->cell || !n->clocks || !n->cell->levels.odd)
        return;
    for (size_t from = 0, first, to; from < n->cell->count; from = to) {
        changes_segment(&n->cell->levels, from, &first, &to);
        add_segment(n, from, to, badness, &s);
    }
    double freedom = (double)s.nights - (double)s.segments - 1;
    if (freedom < NIGHTS_LEAST - 2 || !(s.xx > 0))
        return;
    double slope = s.xy / s.xx, rest = fmax(s.yy - slope * s.xy, 0) / freedom;
    double error = sqrt(rest / s.xx);
    if (!(error <= error_most))
        return;
    out->measured = true;
    out->sensitivity = -slope;
    out->sensitivity_error = error;
    out->freedom = freedom;
    out->nights = s.nights;
}

/* Takes a memory clock that changed further than the shader's; the history has no nights of it. */
static void take_memory(const struct cause_run *before, const struct cause_run *now, const struct cell *was,
                        const struct cell *is, struct clock_part *out)
{
    struct clock_reading a = read_clock(before->run, was, memory_clock),
                         b = read_clock(now->run, is, memory_clock);
    double change = b.log - a.log;
    if (!isfinite(change) || fabs(change) < clock_least || (out->known && fabs(change) <= fabs(out->change)))
        return;
    out->known = out->memory = true;
    out->measured = false;
    out->usual = 0;
    out->change = change;
    out->error = hypot(a.error, b.error);
    out->before = exp(a.log);
    out->now = exp(b.log);
}

void clock_part_of(const struct cause_run *before, const struct cause_run *now, const char *variant,
                   int context, enum metric m, const struct clock_nights *nights, struct clock_part *out)
{
    const struct cell *was = before->run ? run_data_cell(before->run, variant, context) : NULL,
                      *is = run_data_cell(now->run, variant, context);
    *out = (struct clock_part){.throttled_s = NAN};
    if (windows_differ(METRIC_SCLK_MHZ, NULL, NULL, now->run, is))
        return;
    if (windows_differ(METRIC_SCLK_MHZ, before->run, was, now->run, is))
        was = NULL;
    struct clock_reading a = clock_of_level(nights, &out->usual), b = read_clock(now->run, is, shader_clock);
    if (!isfinite(a.log) && was)
        a = read_clock(before->run, was, shader_clock);
    out->known = isfinite(a.log) && isfinite(b.log);
    if (out->known) {
        out->change = b.log - a.log;
        out->error = hypot(a.error, b.error);
        out->before = exp(a.log);
        out->now = exp(b.log);
        measure_sensitivity(nights, m, out);
    }
    if (was && is)
        take_memory(before, now, was, is, out);
    if (!out->known)
        return;
    out->throttled_s = throttled_of(now->run, is, out->throttle);
    out->explained = -out->change * (out->measured ? out->sensitivity : 1);
    if (out->measured)
        out->explained_error = hypot(out->change * out->sensitivity_error, out->sensitivity * out->error);
}

static void describe(const struct clock_part *p, struct cause *out)
{
    out->before = p->before;
    out->now = p->now;
    out->memory_clock = p->memory;
    out->throttled_s = p->throttled_s;
    snprintf(out->throttle, sizeof out->throttle, "%s", p->throttle);
    if (!p->measured)
        return;
    out->sensitivity = p->sensitivity;
    out->sensitivity_error = p->sensitivity_error;
    out->nights = p->nights;
}

/* Bounds the share by 0 and `most`. */
static bool bound(const struct clock_part *p, double most, double least, struct cause *out)
{
    if (most < least || fabs(p->change) < 2 * p->usual)
        return false;
    out->bounded = true;
    out->share_low = 0;
    out->share_high = fmin(most, 1);
    describe(p, out);
    return true;
}

bool clock_explains(const struct clock_part *p, double change, double change_error, double common,
                    struct cause *out)
{
    double left = p->explained - common, share = left / change;
    if (!p->known || fabs(p->change) < fmax(clock_least, 2 * p->error))
        return false;
    if (!p->measured)
        return share > 0 && bound(p, share, bound_least, out);
    double reach = stats_t_limit(0.05, p->freedom);
    double error =
        hypot(p->explained_error, share * (isfinite(change_error) ? change_error : 0)) / fabs(change);
    bool lower_and_slower = -p->change / change > 0;
    if (share < share_least || share <= stats_t_limit(p_named, p->freedom) * error)
        return lower_and_slower && bound(p, share + reach * error, bound_of_measured, out); /* not excluded */
    out->share = fmin(share, 1);
    out->share_low = fmax(fmin(share - reach * error, 1), 0);
    out->share_high = fmin(share + reach * error, 1);
    out->certainty = out->share_low >= share_least ? CAUSE_ESTABLISHED : CAUSE_COINCIDES;
    describe(p, out);
    return true;
}
