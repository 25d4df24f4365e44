#include "executor/telemetry/activity.h"

#include "common/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MOST = 16384, SAMPLES_LEAST = 3 };

static const double busy_percent = 10, late_s = 0.4;
static const char *const window_names[] = {"timed", "busy", "test"};

const char *activity_window_name(enum activity_window w)
{
    return window_names[w];
}

void activity_init(struct activity_log *log)
{
    *log = (struct activity_log){.stride = 1};
}

void activity_release(struct activity_log *log)
{
    free(log->sample);
    activity_init(log);
}

static bool says_something(const struct sample *s)
{
    return sample_has(s, SAMPLE_SCLK) || sample_has(s, SAMPLE_POWER) || sample_has(s, SAMPLE_ENERGY) ||
           sample_has(s, SAMPLE_THROTTLE) || sample_has(s, SAMPLE_NEIGHBOURS);
}

static void thin_out(struct activity_log *log)
{
    for (size_t i = 0; 2 * i < log->count; i++)
        log->sample[i] = log->sample[2 * i];
    log->count = (log->count + 1) / 2;
    log->stride *= 2;
}

static void keep(struct activity_log *log, const struct sample *s)
{
    ALLOC_GROW(log->sample, log->count + 1, log->capacity);
    log->sample[log->count++] = *s;
}

void activity_add(struct activity_log *log, const struct sample *s)
{
    if (!says_something(s) || log->seen++ % log->stride != 0)
        return;
    if (log->count == SAMPLES_MOST)
        thin_out(log);
    keep(log, s);
}

void activity_edge(struct activity_log *log, double t_s, const struct sample *edge)
{
    struct sample at = *edge;
    log->was_busy |= log->count == 0 && at.value[SAMPLE_GPU_BUSY] >= busy_percent;
    at.t_s = t_s;
    at.value[SAMPLE_GPU_BUSY] = at.value[SAMPLE_NEIGHBOURS] = NAN;
    if (says_something(&at)) /* never thinned out: without both there is no energy */
        keep(log, &at);
}

static bool is_inside(const struct sample *s, double from_s, double to_s)
{
    return s->t_s >= from_s && s->t_s <= to_s;
}

static size_t count_inside(const struct activity_log *log, enum sample_field field, double from_s,
                           double to_s)
{
    size_t n = 0;
    for (size_t i = 0; i < log->count; i++)
        n += is_inside(&log->sample[i], from_s, to_s) && sample_has(&log->sample[i], field);
    return n;
}

/* NaN without a value. */
static double mean_inside(const struct activity_log *log, enum sample_field field, double from_s, double to_s)
{
    double sum = 0;
    for (size_t i = 0; i < log->count; i++)
        if (is_inside(&log->sample[i], from_s, to_s) && sample_has(&log->sample[i], field))
            sum += log->sample[i].value[field];
    return sum / (double)count_inside(log, field, from_s, to_s);
}

static bool find_timed(const struct activity_log *log, const struct activity_times *t, struct activity *out)
{
    out->window = WINDOW_TIMED;
    out->to_s = t->printed_s - t->decode_s;
    out->from_s = out->to_s - t->prefill_s;
    if (isnan(out->from_s) || out->from_s < 0 ||
        count_inside(log, SAMPLE_SCLK, out->from_s, out->to_s) < SAMPLES_LEAST)
        return false;
    double load = mean_inside(log, SAMPLE_GPU_BUSY, out->from_s, out->to_s);
    return !(load < mean_inside(log, SAMPLE_GPU_BUSY, 0, t->end_s));
}

static bool find_busy(const struct activity_log *log, struct activity *out)
{
    size_t clocks = 0;
    out->window = WINDOW_BUSY;
    out->from_s = out->to_s = NAN;
    bool stale = log->was_busy;
    for (size_t i = 0; i < log->count; i++) {
        const struct sample *s = &log->sample[i];
        stale &= !(s->value[SAMPLE_GPU_BUSY] < busy_percent);
        if (stale || s->t_s < late_s || !(s->value[SAMPLE_GPU_BUSY] >= busy_percent))
            continue;
        out->from_s = isnan(out->from_s) ? s->t_s : out->from_s;
        out->to_s = s->t_s;
        clocks += sample_has(s, SAMPLE_SCLK);
    }
    return clocks >= SAMPLES_LEAST;
}

static void choose_window(const struct activity_log *log, const struct activity_times *t,
                          struct activity *out)
{
    if (find_timed(log, t, out) || find_busy(log, out))
        return;
    out->window = WINDOW_TEST;
    out->from_s = 0;
    out->to_s = t->end_s;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The 5th percentile: the smallest value that 5 % of the samples do not exceed. */
static double low_inside(const struct activity_log *log, enum sample_field field, const struct activity *w)
{
    size_t n = count_inside(log, field, w->from_s, w->to_s), k = 0;
    if (n == 0)
        return NAN;
    AUTO_FREE double *values = xcalloc(n, sizeof *values);
    for (size_t i = 0; i < log->count; i++)
        if (is_inside(&log->sample[i], w->from_s, w->to_s) && sample_has(&log->sample[i], field))
            values[k++] = log->sample[i].value[field];
    qsort(values, n, sizeof *values, by_size);
    return values[(n + 19) / 20 - 1];
}

static double most_inside(const struct activity_log *log, enum sample_field field, const struct activity *w)
{
    double most = NAN;
    for (size_t i = 0; i < log->count; i++)
        if (is_inside(&log->sample[i], w->from_s, w->to_s) && !(log->sample[i].value[field] <= most))
            most = sample_has(&log->sample[i], field) ? log->sample[i].value[field] : most;
    return most;
}

/* A reason holds from the sample that shows it to the next one that says anything about reasons. */
static void measure_throttling(const struct activity_log *log, struct activity *out)
{
    const struct sample *last = NULL;
    out->throttled_s = NAN;
    for (size_t i = 0; i < log->count; i++) {
        const struct sample *s = &log->sample[i];
        if (!is_inside(s, out->from_s, out->to_s) || !sample_has(s, SAMPLE_THROTTLE))
            continue;
        out->throttled_s = last ? out->throttled_s : 0;
        if (last && last->value[SAMPLE_THROTTLE] > 0)
            out->throttled_s += s->t_s - last->t_s;
        out->throttle |= (unsigned)s->value[SAMPLE_THROTTLE];
        last = s;
    }
    if (last && last->value[SAMPLE_THROTTLE] > 0)
        out->throttled_s += out->to_s - last->t_s;
}

bool activity_measure(const struct activity_log *log, const struct activity_times *times,
                      struct activity *out)
{
    *out = (struct activity){.neighbours = -1};
    if (log->count == 0 || !(times->end_s > 0))
        return false;
    choose_window(log, times, out);
    for (size_t i = 0; i < log->count; i++)
        out->samples += is_inside(&log->sample[i], out->from_s, out->to_s);
    out->sclk_mhz = mean_inside(log, SAMPLE_SCLK, out->from_s, out->to_s);
    out->sclk_p5_mhz = low_inside(log, SAMPLE_SCLK, out);
    out->sclk_low_mhz = mean_inside(log, SAMPLE_SCLK_LOW, out->from_s, out->to_s);
    out->mclk_mhz = mean_inside(log, SAMPLE_MCLK, out->from_s, out->to_s);
    out->mclk_p5_mhz = low_inside(log, SAMPLE_MCLK, out);
    out->power_w = mean_inside(log, SAMPLE_POWER, out->from_s, out->to_s);
    out->temp_c = most_inside(log, SAMPLE_TEMP_JUNCTION, out);
    measure_throttling(log, out);
    energy_measure(log->sample, log->count, out->from_s, out->to_s, &out->energy);
    double neighbours =
        most_inside(log, SAMPLE_NEIGHBOURS, &(struct activity){.from_s = 0, .to_s = times->end_s});
    out->neighbours = isnan(neighbours) ? -1 : (int)neighbours;
    return true;
}
