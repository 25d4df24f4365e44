/* eta: how long the tests that are left may take, from those that are done. A test is expected to take the
 * mean of its own cell (variant, context); else of its context over all variants; else the part of its
 * time-out that the finished ones took of theirs. Pure. Seconds; negative: not known yet.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_ETA_H
#define KERNSWEEP_EXECUTOR_RUN_ETA_H

#include "common/base/err.h"
#include "executor/job/job.h"

struct eta_cell {
    size_t variant;
    int64_t context;
    double timeout_s;
    size_t left, done;
    double wall_s; /* of the done ones together */
};

struct eta {
    struct eta_cell *cell;
    size_t count;
    size_t *cell_of; /* by test */
};

int eta_init(struct eta *eta, const struct job *job, struct err *err);
void eta_release(struct eta *eta);
void eta_finished(struct eta *eta, size_t test, double wall_s);
/* A test that will not run, or told nothing about durations. */
void eta_dropped(struct eta *eta, size_t test);
double eta_test(const struct eta *eta, size_t test);
/* Of all that are left; the running one is among them until it is finished, and elapsed_s is taken off. */
double eta_left(const struct eta *eta, double elapsed_s);

#endif
