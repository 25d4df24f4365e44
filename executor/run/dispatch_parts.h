/* dispatch_parts: what dispatch.c (what to order next) and dispatch_queue.c (what became of it) share.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_DISPATCH_PARTS_H
#define KERNSWEEP_EXECUTOR_RUN_DISPATCH_PARTS_H

#include "executor/place/slurm.h"
#include "executor/run/order.h"

enum dispatch_phase { PHASE_NEW, PHASE_PREPARING, PHASE_READY };

struct dispatch {
    struct suite *s;
    struct order *order; /* owned, as the array is */
    size_t count;
    enum dispatch_phase *phase;       /* owned; by variant */
    char name[FS_PATH_MAX];           /* of all jobs of the run */
    char script[FS_PATH_MAX];         /* what sbatch is given */
    char self[FS_PATH_MAX];           /* this program, for the script */
    int64_t look_ns;                  /* when the queue is looked at next */
    int64_t over_ns;                  /* since when no test is left; 0 while some are */
    bool down;                        /* the controller did not answer the last time */
    bool stalled;                     /* said so, and did not take it back yet */
    char told[VERDICT_REASON_MAX];    /* last words about waiting */
    char refusal[VERDICT_REASON_MAX]; /* why the last order was not taken; "" */
};

/* Hands an order to Slurm, or leaves it for later with d->down or d->refusal saying why. */
int dispatch_submit(struct dispatch *d, struct order *o, struct err *err);
/* Takes over journals, looks at the queue when it is time, and ends tasks that are done or lost. */
int dispatch_watch(struct dispatch *d, struct err *err);
/* Cancels our jobs, waits for them within a limit, and fences what is left. */
int dispatch_end_jobs(struct dispatch *d, struct err *err);
/* Until the next turn, or a signal. */
int dispatch_wait(struct dispatch *d, struct err *err);

bool dispatch_all_over(const struct dispatch *d);

#endif
