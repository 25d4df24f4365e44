/* noise_outlier: finds the run of an A/A session that is far from all others. If the node was otherwise in
 * use during that run, the run says nothing about the build; if not, it matters, but the noise floor does not
 * show it, as that leaves out the largest deviation of a cell. Pure.
 */
#pragma once

#include "results/store/run_data.h"

struct noise_outlier {
    const struct run_info *run; /* NULL: there is none */
    size_t cells;               /* number of cells in which it is far from the others */
    char variant[RUN_NAME_MAX]; /* the cell in which it is farthest */
    int context;
    double change; /* in that cell, relative to the nearest other run */
};

/* In a cell, a run is far from the others if it differs from the nearest one by more than `least` (relative)
 * and by more than three times the spread of the others. Finds nothing in fewer than four runs. */
struct noise_outlier noise_outlier_find(const struct run_data *const *runs, size_t n, double least);
