#include "reports/model/activity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct mean {
    double sum;
    int n;
};

static void add(struct mean *m, double v)
{
    if (!isnan(v)) {
        m->sum += v;
        m->n++;
    }
}

static double value_of(const struct mean *m)
{
    return m->n ? m->sum / m->n : (double)NAN;
}

static void take_throttling(struct cell_activity *out, const struct run_activity *a)
{
    out->throttled += a->throttled_s > 0;
    if (isnan(a->throttled_s) || a->throttled_s <= out->throttled_s)
        return;
    out->throttled_s = a->throttled_s;
    snprintf(out->throttle, sizeof out->throttle, "%s", a->throttle);
}

static bool says_something(const struct cell_activity *a, const struct cell *c)
{
    return c->n[METRIC_SCLK_MHZ] > 0 || c->n[METRIC_JOULES] > 0 || !isnan(a->power_w) || !isnan(a->temp_c) ||
           !isnan(a->throttled_s) || !isnan(a->mclk_mhz) || a->neighbours > 0;
}

struct cell_activity activity_of_cell(const struct run_data *run, const struct cell *c)
{
    struct cell_activity out = {
        .sclk_p5_mhz = NAN, .temp_c = NAN, .throttled_s = NAN, .neighbours = RUN_UNKNOWN};
    struct mean mclk = {0}, power = {0};
    bool differ = false;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *t = &run->tests[i];
        const struct run_activity *a = &t->activity;
        if (t->warmup || t->status != STATUS_OK)
            continue;
        if (!out.window && !differ)
            out.window = a->window;
        differ |= strcmp(out.window ? out.window : "", a->window) != 0;
        if (differ)
            out.window = NULL;
        add(&mclk, a->mclk_mhz);
        add(&power, a->power_w);
        out.sclk_p5_mhz = fmin(out.sclk_p5_mhz, a->sclk_p5_mhz); /* NaN loses */
        out.temp_c = fmax(out.temp_c, a->temp_c);
        out.neighbours = a->neighbours > out.neighbours ? a->neighbours : out.neighbours;
        take_throttling(&out, a);
    }
    out.mclk_mhz = value_of(&mclk);
    out.power_w = value_of(&power);
    out.known = says_something(&out, c);
    return out;
}
