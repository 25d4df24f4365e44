/* gpu_activity: what the card did during one test: clocks, power, temperature, throttling, energy and other
 * users of the card, over the part of the test that counts. Gathers samples while the test runs and measures
 * once at its end.
 *
 * The part is the first of these that can be found:
 *
 * - timed: the last prefill_s (else kernel_ms; times `iters` where that is printed) before decode_s before
 * the line with the timings arrived. It must hold three samples of the clock and, where the load is known, be
 * no less busy than the whole test, itself or 0.2 s later: a workload that prints its timings long after the
 * timed part fails this.
 *
 * Its clocks are those of 0.2 s after its start to 0.1 s after its end where the driver notes the power
 * (NVIDIA's), since it tells a clock that late.
 *
 * - busy: from the first to the last sample of a busy card (10 % and more), if three of them have a clock.
 * Cards report a load up to 0.2 s late: one that was there before the test began is left out until it has
 * passed, and so is that of the first 0.4 s.
 *
 * - test: the whole test.
 *
 * Joules are from the power where the driver noted it for all of the part, every 20 ms or so: accumulators
 * advance every 0.1 s, which is much of a short test. Else they are from the card's accumulator if it agrees
 * with the card's own power, else from the power as it was sampled. The accumulator is believed if it never
 * decreases and its increase over the whole test is within 30 % of the power integrated over the same time,
 * give or take what may have flowed unseen: in a tenth of a second, and in what gaps between the samples of
 * the power have beyond that. The window's part of it is the part that the power has there: accumulators may
 * be costly to read, and are then read only before and after the test. Without power there is nothing to
 * check it against, and it is believed if it increases.
 *
 * A reason to throttle that was there before the test is not the test's until half a second has passed, which
 * is how long a card may show it after the load that caused it.
 *
 * Knows nothing of files. Whatever was not measured is NaN.
 */
#pragma once

#include "executor/telemetry/sample.h"

#include <stddef.h>
#include <stdint.h>

enum { ENERGY_NOTE_MAX = 160 };

enum energy_source { ENERGY_UNKNOWN, ENERGY_ACCUMULATOR, ENERGY_POWER };

struct energy {
    double joules; /* NaN: not known */
    enum energy_source from;
    char note[ENERGY_NOTE_MAX]; /* why the accumulator was not believed, or "" */
};

enum activity_window { WINDOW_TIMED, WINDOW_BUSY, WINDOW_TEST };

/* Seconds since the test's start; NaN: not known. */
struct activity_times {
    double printed_s; /* when the timings arrived */
    double timed_s, decode_s;
    double end_s;
};

struct activity {
    enum activity_window window;
    double from_s, to_s;
    size_t samples; /* in it */
    double sclk_mhz, sclk_p5_mhz, sclk_low_mhz, mclk_mhz, mclk_p5_mhz;
    double power_w, temp_c;
    double throttled_s;
    unsigned throttle; /* enum throttle, of all that held in the window */
    struct energy energy;
    int neighbours; /* -1: not known */
};

/* The log is bounded: of a long test it keeps every second, fourth ... sample. */
struct activity_log {
    struct sample *sample;
    size_t count, capacity;
    uint64_t seen, stride;
    bool was_busy; /* the card reported a load before the test began: that of the test before */
};

void activity_init(struct activity_log *log);
void activity_release(struct activity_log *log);
void activity_add(struct activity_log *log, const struct sample *s);
/* Adds the sample before the test, which must come first, or the one after it. */
void activity_edge(struct activity_log *log, double t_s, const struct sample *edge);
/* Puts the power that the driver noted in place of that of the samples; start_s: of the test. After the
 * edges. */
void activity_trace(struct activity_log *log, double start_s, const struct power_trace *trace);
/* Returns false if no sample had anything to measure. */
bool activity_measure(const struct activity_log *log, const struct activity_times *times,
                      struct activity *out);
const char *activity_window_name(enum activity_window w);
