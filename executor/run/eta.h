/* eta: estimates the duration of the remaining tests from the finished ones: the mean of a test's own cell
 * (variant, context); else of its context over all variants; else the same fraction of its time-out as
 * finished tests took of theirs. Pure. Seconds; negative: not known yet.
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
/* A test that will not run, or whose duration means nothing. */
void eta_dropped(struct eta *eta, size_t test);
double eta_test(const struct eta *eta, size_t test);
/* Of all remaining tests. The running one is among them until it finishes; elapsed_s is subtracted. */
double eta_left(const struct eta *eta, double elapsed_s);

#endif
