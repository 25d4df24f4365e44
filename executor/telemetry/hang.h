/* hang: is a test busy without getting anywhere? CPU near a whole core (or wanting one, where others crowd it
 * out) while the GPU is idle, no output and no growth of memory, all through the last `after_s`. Pure: fed
 * with samples, owns nothing, knows no clock. A node that shows no GPU load, or after_s 0, never hangs.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_HANG_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_HANG_H

#include "executor/telemetry/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct hang {
    double after_s;
    double since_s; /* since when it looks so; negative: it does not */
    double rss, vram;
    uint64_t output_bytes;
};

void hang_init(struct hang *h, double after_s);
bool hang_feed(struct hang *h, const struct sample *s, uint64_t output_bytes);

#endif
