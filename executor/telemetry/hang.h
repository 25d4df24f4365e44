/* hang: detects a test that is busy without progress: for `after_s` on end its CPU load is near a whole core
 * (or it is runnable and starved by others) while the GPU is idle, without output and without growth of
 * memory. Pure: fed with samples, owns nothing, knows no clock. Never fires on a node that shows no GPU load,
 * or with after_s 0.
 */
#pragma once

#include "executor/telemetry/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct hang {
    double after_s;
    double since_s; /* since when it has looked so; negative: it does not */
    double rss, vram;
    uint64_t output_bytes;
};

void hang_init(struct hang *h, double after_s);
bool hang_feed(struct hang *h, const struct sample *s, uint64_t output_bytes);
