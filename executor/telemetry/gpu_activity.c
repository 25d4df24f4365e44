#include "executor/telemetry/gpu_activity.h"

#include "common/base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_LEAST = 3, ENERGY_LEAST = 2 };
enum { SAMPLES_MOST = 16384, SAMPLES_LEAST = 3 };

static const double busy_percent = 10, late_s = 0.4, load_late_s = 0.2, clock_late_s = 0.1;
/* An H100 names its power cap until 0.41 s after a load has ended, and not before 0.2 s after it began. */
static const double reason_late_s = 0.5, reason_soon_s = 0.2;
static const double tolerance = 0.3, tolerance_s = 0.1, gap_most_s = 1;
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

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

void activity_trace(struct activity_log *log, double start_s, const struct power_trace *trace)
{
    if (trace->count == 0)
        return;
    double from_s = trace->reading[0].at_s - start_s;
    for (size_t i = 0; i < log->count; i++)
        if (log->sample[i].t_s >= from_s)
            log->sample[i].value[SAMPLE_POWER] = NAN;
    for (size_t i = 0; i < trace->count; i++) {
        struct sample s;
        sample_clear(&s, trace->reading[i].at_s - start_s);
        s.value[SAMPLE_POWER] = trace->reading[i].watts;
        s.noted = true;
        keep(log, &s);
    }
    qsort(log->sample, log->count, sizeof *log->sample, by_time);
}

/* Returns from when on the power is that of a trace; NaN: never. */
static double traced_from_s(const struct activity_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->sample[i].noted)
            return log->sample[i].t_s;
    return NAN;
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

/* Returns NaN without a value. */
static double mean_inside(const struct activity_log *log, enum sample_field field, double from_s, double to_s)
{
    double sum = 0;
    for (size_t i = 0; i < log->count; i++)
        if (is_inside(&log->sample[i], from_s, to_s) && sample_has(&log->sample[i], field))
            sum += log->sample[i].value[field];
    return sum / (double)count_inside(log, field, from_s, to_s);
}

/* Returns from when on the load is not that of the test before. */
static double own_load_from_s(const struct activity_log *log)
{
    for (size_t i = 0; i < log->count && log->was_busy; i++)
        if (log->sample[i].value[SAMPLE_GPU_BUSY] < busy_percent)
            return log->sample[i].t_s;
    return log->was_busy ? INFINITY : 0;
}

static bool find_timed(const struct activity_log *log, const struct activity_times *t, struct activity *out)
{
    out->window = WINDOW_TIMED;
    out->to_s = t->printed_s - t->decode_s;
    out->from_s = out->to_s - t->timed_s;
    if (isnan(out->from_s) || out->from_s < 0 ||
        count_inside(log, SAMPLE_SCLK, out->from_s, out->to_s) < SAMPLES_LEAST)
        return false;
    double load = mean_inside(log, SAMPLE_GPU_BUSY, out->from_s, out->to_s);
    double late = mean_inside(log, SAMPLE_GPU_BUSY, out->from_s + load_late_s, out->to_s + load_late_s);
    return !(fmax(load, late) < mean_inside(log, SAMPLE_GPU_BUSY, own_load_from_s(log), t->end_s));
}

static bool find_busy(const struct activity_log *log, struct activity *out)
{
    size_t clocks = 0;
    out->window = WINDOW_BUSY;
    out->from_s = out->to_s = NAN;
    double own_s = fmax(own_load_from_s(log), late_s);
    for (size_t i = 0; i < log->count; i++) {
        const struct sample *s = &log->sample[i];
        if (s->t_s < own_s || !(s->value[SAMPLE_GPU_BUSY] >= busy_percent))
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

/* Returns the 5th percentile: the smallest value that 5 % of the samples do not exceed. */
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

/* Reasons of which the load before the test may be the cause: those that the sample before the test shows or,
 * without it, those that are there too soon, until they have gone or been there for too long. */
static unsigned stale_reasons(unsigned stale, const struct sample *s, bool is_first)
{
    unsigned reasons = (unsigned)s->value[SAMPLE_THROTTLE];
    if (is_first)
        return s->t_s < reason_soon_s ? reasons : 0;
    return s->t_s < reason_late_s ? stale & reasons : 0;
}

/* The reasons held from one moment to the next. */
static void hold_reasons(struct activity *out, unsigned reasons, double from_s, double to_s)
{
    double held_s = fmin(to_s, out->to_s) - fmax(from_s, out->from_s);
    if (reasons == 0 || held_s <= 0)
        return;
    out->throttled_s += held_s;
    out->throttle |= reasons;
}

/* A reason holds from the sample that shows it to the next one that says anything about reasons. */
static void measure_throttling(const struct activity_log *log, struct activity *out)
{
    unsigned stale = 0, reasons = 0;
    double last_s = NAN;
    out->throttled_s = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct sample *s = &log->sample[i];
        if (!sample_has(s, SAMPLE_THROTTLE))
            continue;
        if (!isnan(last_s))
            hold_reasons(out, reasons, last_s, s->t_s);
        stale = stale_reasons(stale, s, isnan(last_s));
        reasons = (unsigned)s->value[SAMPLE_THROTTLE] & ~stale;
        last_s = s->t_s;
    }
    hold_reasons(out, reasons, last_s, out->to_s);
    if (count_inside(log, SAMPLE_THROTTLE, out->from_s, out->to_s) == 0)
        out->throttled_s = NAN;
}

/* What one field says over time. */
struct readings {
    const struct sample *sample;
    size_t samples;
    enum sample_field field;
    size_t count; /* of readings */
    double first_s, last_s, least, most;
    bool decreases;
};

static void survey(struct readings *r, const struct sample *sample, size_t samples, enum sample_field field)
{
    double last = NAN;
    *r = (struct readings){.sample = sample,
                           .samples = samples,
                           .field = field,
                           .first_s = NAN,
                           .last_s = NAN,
                           .least = INFINITY};
    for (size_t i = 0; i < samples; i++) {
        const struct sample *s = &sample[i];
        if (!sample_has(s, field))
            continue;
        r->first_s = r->count++ ? r->first_s : s->t_s;
        r->last_s = s->t_s;
        r->decreases |= s->value[field] < last;
        last = s->value[field];
        r->most = last > r->most ? last : r->most;
        r->least = last < r->least ? last : r->least;
    }
}

/* Values lie on straight lines between readings, and are constant before the first and after the last. */
static double value_at(const struct readings *r, double t_s)
{
    const struct sample *before = NULL;
    for (size_t i = 0; i < r->samples; i++) {
        const struct sample *s = &r->sample[i];
        if (!sample_has(s, r->field))
            continue;
        if (s->t_s >= t_s) {
            if (!before || s->t_s <= before->t_s)
                return s->value[r->field];
            double part = (t_s - before->t_s) / (s->t_s - before->t_s);
            return before->value[r->field] + part * (s->value[r->field] - before->value[r->field]);
        }
        before = s;
    }
    return before ? before->value[r->field] : (double)NAN;
}

static double integral(const struct readings *r, double from_s, double to_s)
{
    double sum = 0, t_s = from_s, value = value_at(r, from_s);
    for (size_t i = 0; i < r->samples; i++) {
        const struct sample *s = &r->sample[i];
        if (!sample_has(s, r->field) || s->t_s <= from_s || s->t_s >= to_s)
            continue;
        sum += (s->t_s - t_s) * (value + s->value[r->field]) / 2;
        t_s = s->t_s;
        value = s->value[r->field];
    }
    return sum + (to_s - t_s) * (value + value_at(r, to_s)) / 2;
}

/* A trace has more readings in a second than the samples before it. */
static double mean_power(const struct activity_log *log, double from_s, double to_s)
{
    struct readings power;
    survey(&power, log->sample, log->count, SAMPLE_POWER);
    return isnan(traced_from_s(log)) ? mean_inside(log, SAMPLE_POWER, from_s, to_s)
                                     : integral(&power, from_s, to_s) / (to_s - from_s);
}

/* Gives the longest time without a reading, and the sum of those beyond the usual tenth of a second. */
static double gaps(const struct readings *r, double from_s, double to_s, double *longest_s)
{
    double beyond_s = 0, last_s = from_s;
    *longest_s = 0;
    for (size_t i = 0; i <= r->samples; i++) {
        const struct sample *s = &r->sample[i];
        if (i < r->samples && (!sample_has(s, r->field) || !is_inside(s, from_s, to_s)))
            continue;
        double gap_s = (i < r->samples ? s->t_s : to_s) - last_s;
        last_s += gap_s;
        beyond_s += fmax(0, gap_s - tolerance_s);
        *longest_s = fmax(*longest_s, gap_s);
    }
    return beyond_s;
}

/* Whether the power, as it was sampled, allows for such an increase: between two readings it may have been
 * anything, but hardly below the least of them. */
static bool fits(const struct readings *energy, const struct readings *power, double increase,
                 double expected)
{
    double longest_s, unseen_s = tolerance_s + gaps(power, energy->first_s, energy->last_s, &longest_s);
    double least = power->least * (energy->last_s - energy->first_s);
    return increase > 0 && increase >= (1 - tolerance) * least &&
           fabs(increase - expected) <= tolerance * expected + unseen_s * power->most;
}

/* Whether the accumulator may be believed; else says why not. */
static bool is_plausible(const struct readings *energy, const struct readings *power, struct energy *out)
{
    double increase = value_at(energy, energy->last_s) - value_at(energy, energy->first_s);
    if (energy->count < ENERGY_LEAST)
        return false;
    if (energy->decreases)
        snprintf(out->note, sizeof out->note, "the energy accumulator went backwards: not used");
    else if (power->count < POWER_LEAST)
        return increase > 0;
    else {
        double expected = integral(power, energy->first_s, energy->last_s);
        if (fits(energy, power, increase, expected))
            return true;
        snprintf(out->note, sizeof out->note,
                 "the energy accumulator says %.4g J over the test, the power adds up to %.4g J: not used",
                 increase, expected);
    }
    return false;
}

/* The window's share of the accumulator's increase is its share of the power, since accumulators are read
 * rarely. */
static double share_of(const struct readings *energy, const struct readings *power, double from_s,
                       double to_s)
{
    from_s = fmax(from_s, energy->first_s);
    to_s = fmin(to_s, energy->last_s);
    if (power->count < POWER_LEAST)
        return value_at(energy, to_s) - value_at(energy, from_s);
    double increase = value_at(energy, energy->last_s) - value_at(energy, energy->first_s);
    return increase * integral(power, from_s, to_s) / integral(power, energy->first_s, energy->last_s);
}

/* Power that is missing for long, as where the driver gives 0 W, makes no energy. */
static bool is_dense(const struct readings *power, double from_s, double to_s)
{
    double longest_s;
    (void)gaps(power, from_s, to_s, &longest_s);
    return longest_s <= fmax(gap_most_s, (to_s - from_s) / 2);
}

/* Whether the driver noted the power of all that time. */
static bool is_traced(const struct readings *power, double traced_s, double from_s, double to_s)
{
    double longest_s;
    (void)gaps(power, from_s, to_s, &longest_s);
    return traced_s <= from_s && longest_s <= tolerance_s;
}

static void measure_energy(const struct activity_log *log, double from_s, double to_s, struct energy *out)
{
    struct readings energy, power;
    *out = (struct energy){.joules = NAN};
    survey(&energy, log->sample, log->count, SAMPLE_ENERGY);
    survey(&power, log->sample, log->count, SAMPLE_POWER);
    bool traced = is_traced(&power, traced_from_s(log), from_s, to_s);
    if (!traced && is_plausible(&energy, &power, out)) {
        out->joules = share_of(&energy, &power, from_s, to_s);
        out->from = ENERGY_ACCUMULATOR;
    } else if (traced || (power.count >= POWER_LEAST && is_dense(&power, from_s, to_s))) {
        out->joules = integral(&power, from_s, to_s);
        out->from = ENERGY_POWER;
    }
}

/* The clock of NVIDIA's driver, which alone notes the power, is of up to 0.2 s before. */
static struct activity clock_window(const struct activity_log *log, const struct activity *w)
{
    struct activity later = {.from_s = w->from_s + load_late_s, .to_s = w->to_s + clock_late_s};
    bool is_late = w->window == WINDOW_TIMED && !isnan(traced_from_s(log)) &&
                   count_inside(log, SAMPLE_SCLK, later.from_s, later.to_s) > 0;
    return is_late ? later : *w;
}

bool activity_measure(const struct activity_log *log, const struct activity_times *times,
                      struct activity *out)
{
    *out = (struct activity){.neighbours = -1};
    if (log->count == 0 || !(times->end_s > 0))
        return false;
    choose_window(log, times, out);
    struct activity clock = clock_window(log, out);
    for (size_t i = 0; i < log->count; i++)
        out->samples += !log->sample[i].noted && is_inside(&log->sample[i], out->from_s, out->to_s);
    out->sclk_mhz = mean_inside(log, SAMPLE_SCLK, clock.from_s, clock.to_s);
    out->sclk_p5_mhz = low_inside(log, SAMPLE_SCLK, &clock);
    out->sclk_low_mhz = mean_inside(log, SAMPLE_SCLK_LOW, out->from_s, out->to_s);
    out->mclk_mhz = mean_inside(log, SAMPLE_MCLK, clock.from_s, clock.to_s);
    out->mclk_p5_mhz = low_inside(log, SAMPLE_MCLK, &clock);
    out->power_w = mean_power(log, out->from_s, out->to_s);
    out->temp_c = most_inside(log, SAMPLE_TEMP_JUNCTION, out);
    measure_throttling(log, out);
    measure_energy(log, out->from_s, out->to_s, &out->energy);
    double neighbours =
        most_inside(log, SAMPLE_NEIGHBOURS, &(struct activity){.from_s = 0, .to_s = times->end_s});
    out->neighbours = isnan(neighbours) ? -1 : (int)neighbours;
    return true;
}
