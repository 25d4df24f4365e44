/* activity: what the card did in all repetitions of a cell. Pure. */
#pragma once

#include "results/store/run_data.h"

/* Taken over the repetitions that count and are OK. NaN, -1 and "": not known. */
struct cell_activity {
    double sclk_p5_mhz;          /* the lowest */
    double mclk_mhz;             /* mean */
    double power_w;              /* mean */
    double temp_c;               /* the highest */
    double throttled_s;          /* the longest */
    int throttled;               /* how many repetitions were throttled at all */
    char throttle[RUN_NAME_MAX]; /* the reasons of the longest */
    int neighbours;              /* the most */
    const char *window;          /* borrowed; the part of the tests; "": not told; NULL: they differ in it */
    bool known;                  /* something is, the clock and the energy among it */
};

struct cell_activity activity_of_cell(const struct run_data *run, const struct cell *c);
