/* noise_outlier: finds the run of an A/A session that is far from all the others. Such a run, made while the
 * node was in use, says nothing about the build; made while it was not, it says what the noise floor, which
 * leaves out the largest deviation of a cell, does not. Pure.
 */
#pragma once

#include "results/store/run_data.h"

struct noise_outlier {
    const struct run_info *run; /* NULL: there is none */
    size_t cells;               /* in which it is far from the others */
    char variant[RUN_NAME_MAX]; /* the cell in which it is farthest */
    int context;
    double change; /* there, relative to the nearest other run */
};

/* A run is far from the others in a cell if it differs from the nearest by more than `least` (relative) and
 * by more than three times what all the others differ by. Needs four runs; finds none in fewer. */
struct noise_outlier noise_outlier_find(const struct run_data *const *runs, size_t n, double least);
