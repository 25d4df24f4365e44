/* slurm: sbatch, squeue and scancel as functions. Every option is a word of an argv; answers are bounded and
 * asked for in a fixed format, because those for programs differ between versions. Each call has a deadline
 * and blocks until then. Knows nothing of variants or tests.
 *
 * Errors: ERR_NODE with *reachable false when the controller did not answer, so that asking again later makes
 * sense; ERR_NODE with *reachable true when it refused.
 */
#ifndef KERNSWEEP_EXECUTOR_PLACE_SLURM_H
#define KERNSWEEP_EXECUTOR_PLACE_SLURM_H

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/contract/scheduler.h"
#include "executor/process/loop.h"

#include <stddef.h>
#include <sys/types.h>

enum { SLURM_TEXT_MAX = 128, SLURM_STATE_MAX = 24 };

struct slurm_order {
    const struct scheduler *how;
    const char *name;        /* of the job; all jobs of a run have the same */
    int number;              /* of the order among those of the run, kept in the job's comment */
    size_t tasks;            /* array indices 1..tasks */
    double limit_s;          /* time limit of each task, slack included */
    char log[FS_PATH_MAX];   /* what the tasks print; %A and %a are Slurm's */
    const char *const *argv; /* the script and its arguments */
};

/* One task of an array job, as the queue shows it. */
struct slurm_task {
    int64_t job; /* of the array */
    int number;  /* from the comment; -1 when it is not one of ours */
    int index;
    char state[SLURM_STATE_MAX]; /* PENDING, RUNNING, NODE_FAIL, ... */
    char nodes[SLURM_TEXT_MAX];
    char reason[SLURM_TEXT_MAX];
};

struct slurm_queue {
    struct slurm_task *task; /* owned */
    size_t count;
};

int slurm_submit(struct loop *loop, const struct slurm_order *order, int64_t *job, bool *reachable,
                 struct err *err);
/* Every task of jobs of that name that the controller still knows of, ended ones included. */
int slurm_look(struct loop *loop, const char *name, struct slurm_queue *out, bool *reachable,
               struct err *err);
void slurm_queue_release(struct slurm_queue *q);
/* Jobs that ended are fine. */
int slurm_cancel(struct loop *loop, const int64_t *jobs, size_t count, bool *reachable, struct err *err);

/* Whether a task in this state will never run (again) by itself. */
bool slurm_state_is_final(const char *state);

#endif
