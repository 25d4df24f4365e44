#include "executor/suite/pause.h"

#include <math.h>
#include <time.h>

/* What two clocks that are read one after the other may differ by. */
static const double clocks_apart_s = 0.01;

static double seconds(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CLOCK_MONOTONIC stands still while the machine sleeps. Of several readings the least, as others may run
 * between the two clocks. */
static double asleep_so_far(void)
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        double monotonic = seconds(CLOCK_MONOTONIC);
        least = fmin(least, seconds(CLOCK_BOOTTIME) - monotonic);
    }
    return least;
}

void pause_begin(struct pause *p)
{
    *p = (struct pause){.asleep_s = asleep_so_far()};
}

double pause_length(const struct pause *p, const struct sampler *samples, bool continued, double frozen_s)
{
    double asleep = asleep_so_far() - p->asleep_s;
    double paused = fmax(samples->paused_s, continued ? samples->max_gap_s : 0);
    paused = fmax(paused, frozen_s);
    return asleep > clocks_apart_s ? asleep + paused : paused;
}
