/* energy: joules of a test, from the card's accumulator if it agrees with the card's own power, else from the
 * power.
 *
 * The accumulator is believed if it never decreases and its increase over the whole test is within 30 % of
 * the power integrated over the same time, give or take what flows in a tenth of a second, which is how far
 * apart readings may be. The window's part of it is the part that the power has there: accumulators may be
 * costly to read, and are then read only before and after the test. Without power there is nothing to check
 * it against, and it is believed if it increases.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_ENERGY_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_ENERGY_H

#include "executor/telemetry/sample.h"

#include <stddef.h>

enum { ENERGY_NOTE_MAX = 160 };

enum energy_source { ENERGY_UNKNOWN, ENERGY_ACCUMULATOR, ENERGY_POWER };

struct energy {
    double joules; /* NaN: not known */
    enum energy_source from;
    char note[ENERGY_NOTE_MAX]; /* why the accumulator was not believed, or "" */
};

/* Of the samples of a whole test, in their order, for the window from_s to to_s. */
void energy_measure(const struct sample *sample, size_t count, double from_s, double to_s,
                    struct energy *out);

#endif
