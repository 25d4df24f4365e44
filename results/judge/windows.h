/* windows: whether what the card did is of the same part of all tests, and was measured in the same way.
 *
 * Clocks and energy are of a part of each test (struct run_activity), which depends on what the workload
 * prints and the driver says. Those of different parts differ although nothing changed. Pure.
 */
#pragma once

#include "results/judge/verdict.h"

/* Why the values of a metric of these tests cannot be compared; REASON_NONE: they can, or no more is known.
 * Either cell may be NULL. */
enum reason_code windows_differ(enum metric m, const struct run_data *a, const struct cell *of_a,
                                const struct run_data *b, const struct cell *of_b);
