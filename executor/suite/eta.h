/* eta: estimates the duration of the remaining tests from the finished ones: the mean of a test's own cell
 * (variant, context); else of its context over all variants; else the same fraction of its time-out as
 * finished tests took of theirs. Lanes run their tests at the same time, except for tests that run alone.
 * Pure. Seconds; negative: not known yet.
 */
#pragma once

#include "executor/bundle/job.h"

struct eta_cell {
    size_t variant;
    int64_t context;
    double timeout_s;
    bool alone;
    size_t left, done;
    double wall_s; /* of the done ones together */
};

struct eta {
    struct eta_cell *cell;
    size_t count;
    size_t test_count;
    size_t *cell_of; /* by test, as the next two are */
    size_t *lane_of;
    bool *over;
    size_t lanes;
    size_t *left_on;   /* by cell and lane */
    double *elapsed_s; /* of what runs on the lane */
};

/* Assumes one lane until eta_spread() is called. */
void eta_init(struct eta *eta, const struct job *job);
void eta_release(struct eta *eta);
/* Sets which lane runs which test from now on. lane_of: by test, each below lanes. */
void eta_spread(struct eta *eta, size_t lanes, const size_t *lane_of);
void eta_running(struct eta *eta, size_t test, double elapsed_s);
void eta_finished(struct eta *eta, size_t test, double wall_s);
/* To be called for a test that will not run, or whose duration means nothing. */
void eta_dropped(struct eta *eta, size_t test);
double eta_test(const struct eta *eta, size_t test);
/* Returns the time for all remaining tests, including those that run. */
double eta_left(const struct eta *eta);
