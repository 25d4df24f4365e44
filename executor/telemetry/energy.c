#include "executor/telemetry/energy.h"

#include <math.h>
#include <stdio.h>

enum { POWER_LEAST = 3, ENERGY_LEAST = 2 };

static const double tolerance = 0.3, tolerance_s = 0.1;

/* What one field says over time. */
struct readings {
    const struct sample *sample;
    size_t samples;
    enum sample_field field;
    size_t count; /* of readings */
    double first_s, last_s, most;
    bool decreases;
};

static void survey(struct readings *r, const struct sample *sample, size_t samples, enum sample_field field)
{
    double last = NAN;
    *r = (struct readings){
        .sample = sample, .samples = samples, .field = field, .first_s = NAN, .last_s = NAN};
    for (size_t i = 0; i < samples; i++) {
        const struct sample *s = &sample[i];
        if (!sample_has(s, field))
            continue;
        r->first_s = r->count++ ? r->first_s : s->t_s;
        r->last_s = s->t_s;
        r->decreases |= s->value[field] < last;
        last = s->value[field];
        r->most = last > r->most ? last : r->most;
    }
}

/* Between two readings on a straight line, before the first and after the last one constant. */
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
        if (fabs(increase - expected) <= tolerance * expected + tolerance_s * power->most)
            return true;
        snprintf(out->note, sizeof out->note,
                 "the energy accumulator says %.4g J over the test, the power adds up to %.4g J: not used",
                 increase, expected);
    }
    return false;
}

/* Of the accumulator's increase, what the power gives to the window: accumulators are read rarely. */
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

void energy_measure(const struct sample *sample, size_t count, double from_s, double to_s, struct energy *out)
{
    struct readings energy, power;
    *out = (struct energy){.joules = NAN};
    survey(&energy, sample, count, SAMPLE_ENERGY);
    survey(&power, sample, count, SAMPLE_POWER);
    if (is_plausible(&energy, &power, out)) {
        out->joules = share_of(&energy, &power, from_s, to_s);
        out->from = ENERGY_ACCUMULATOR;
    } else if (power.count >= POWER_LEAST) {
        out->joules = integral(&power, from_s, to_s);
        out->from = ENERGY_POWER;
    }
}
