#include "executor/trial/perf_activity.h"

#include "executor/bundle/artifact.h"
#include "executor/telemetry/throttle.h"

#include <math.h>

static double timing_s(const struct timings *t, const char *name)
{
    const double *value = timings_get(t, name);
    return value && isfinite(*value) && *value >= 0 ? *value : (double)NAN;
}

static json_t *encode_reasons(unsigned reasons)
{
    json_t *out = json_array();
    for (int i = 0; i < THROTTLE_REASONS; i++)
        if (reasons >> i & 1)
            json_array_append_new(out, json_string(throttle_name(i)));
    return out;
}

static json_t *encode_source(enum energy_source from)
{
    switch (from) {
    case ENERGY_ACCUMULATOR:
        return json_string("accumulator");
    case ENERGY_POWER:
        return json_string("power");
    case ENERGY_UNKNOWN:
        return json_null();
    }
    return json_null();
}

/* Reasons are known where it is known how long they held. */
static json_t *encode(const struct activity *a)
{
    return json_pack(
        "{s:{s:s, s:o, s:o, s:I}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s*}",
        "window", "kind", activity_window_name(a->window), "from_s", artifact_number(a->from_s), "to_s",
        artifact_number(a->to_s), "samples", (json_int_t)a->samples, "sclk_mhz", artifact_number(a->sclk_mhz),
        "sclk_p5_mhz", artifact_number(a->sclk_p5_mhz), "sclk_low_mhz", artifact_number(a->sclk_low_mhz),
        "mclk_mhz", artifact_number(a->mclk_mhz), "mclk_p5_mhz", artifact_number(a->mclk_p5_mhz), "power_w",
        artifact_number(a->power_w), "temp_c", artifact_number(a->temp_c), "throttled_s",
        artifact_number(a->throttled_s), "throttle",
        isnan(a->throttled_s) ? json_null() : encode_reasons(a->throttle), "joules",
        artifact_number(a->energy.joules), "joules_from", encode_source(a->energy.from), "neighbours",
        a->neighbours < 0 ? json_null() : json_integer(a->neighbours), "note",
        *a->energy.note ? a->energy.note : NULL);
}

json_t *perf_activity(const struct activity_log *log, const struct timings *t, double printed_s, double end_s)
{
    struct activity a;
    struct activity_times times = {.printed_s = printed_s,
                                   .prefill_s = timing_s(t, "prefill_s"),
                                   .decode_s = timing_s(t, "decode_s"),
                                   .end_s = end_s};
    if (isnan(times.decode_s))
        times.decode_s = 0;
    return activity_measure(log, &times, &a) ? encode(&a) : NULL;
}
