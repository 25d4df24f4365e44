/* cause_clock: how much of a change the GPU's clock explains.
 *
 * With x the logarithm of the shader clock and y that of how long a cell took, its sensitivity b is minus the
 * slope of y on x over the cell's own nights, each about the mean of its level's segment; a lower clock of dx
 * explains -b dx. Where the clock did not vary enough to tell, b is only known to lie between 0 and 1. Pure.
 */
#pragma once

#include "results/judge/causes/cause_differences.h"
#include "results/judge/nights/nights.h"

/* How much slower a cell is expected to be by its clock alone: logarithms, positive for slower. */
struct clock_part {
    bool known;       /* both sides have a clock; the rest is 0 if not */
    bool measured;    /* by the cell's own sensitivity; else `explained` is what a sensitivity of 1 gives */
    double change;    /* of the clock */
    double error;     /* its standard error */
    double explained; /* and the error of that, if measured */
    double explained_error;
    double freedom; /* of that error */
    double sensitivity, sensitivity_error;
    size_t nights;
    double usual;       /* standard deviation of the clock over the nights of the level; 0 if unknown */
    double before, now; /* MHz */
    bool memory;        /* it is the memory's clock, which fell further */
    double throttled_s; /* of the median test; NaN if unknown */
    char throttle[RUN_NAME_MAX];
};

/* The nights before, for one cell: any may be NULL. level: what the cell was judged against. */
struct clock_nights {
    const struct night_cell *cell;
    const struct history_series *clocks; /* METRIC_SCLK_MHZ */
    const struct level *level;
};

void clock_part_of(const struct cause_run *before, const struct cause_run *now, const char *variant,
                   int context, enum metric m, const struct clock_nights *nights, struct clock_part *out);

/* Whether the clock is a cause of a change (positive for slower); if so, sets the shares and numbers of *out.
 * common: the part of the clock's effect that all cells share and that the change does not contain. */
bool clock_explains(const struct clock_part *p, double change, double change_error, double common,
                    struct cause *out);
