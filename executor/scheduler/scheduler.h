/* scheduler: what allocates machines to tests, as a table of functions: Slurm, or the node itself (local),
 * where the supervisor runs the tests in its own process. Another scheduler is one file with its table, one
 * line in scheduler.c, and its `kind` in common/contract/scheduler.c.
 *
 * Work is submitted as array jobs. Their results are collected from the shared run folder (relay.h),
 * which needs no scheduler; polling is for what only the scheduler knows. Calls block, each with a deadline.
 * Knows nothing of variants or tests.
 *
 * Errors of submit, poll and cancel: ERR_NODE with *reachable false when the scheduler did not answer, so
 * that a retry makes sense; ERR_NODE with *reachable true when it refused.
 */
#pragma once

#include "common/contract/scheduler.h"
#include "executor/node/gpu_choice.h"
#include "executor/process/loop.h"

#include <stddef.h>
#include <stdint.h>

#define SCHEDULER_RUN_NAME "kernsweep-%s" /* of all jobs of a run, by its id */

enum { TASK_TEXT_MAX = 128, TASK_WORD_MAX = 24 };

struct array_request {
    const struct scheduler *how; /* the plan's part */
    const char *name;            /* shared by all jobs of a run */
    int number;                  /* of the array job within its run; polling returns it */
    size_t tasks;                /* indices 1..tasks */
    double limit_s;              /* time limit of each task, slack included */
    const char *log_dir;         /* for the tasks' output */
    const char *const *argv;     /* the script and its arguments */
};

enum task_state {
    TASK_UNSEEN, /* not in any answer so far */
    TASK_PENDING,
    TASK_RUNNING,
    TASK_OTHER, /* neither, and may still run: suspended, requeued, ... */
    TASK_CANCELLED,
    TASK_ENDED, /* in any other way */
};

/* One task of an array job, as the queue shows it. */
struct task_report {
    int64_t job; /* of the array */
    int number;  /* array_request.number; -1: not one of ours */
    int index;
    enum task_state state;
    char word[TASK_WORD_MAX]; /* the scheduler's own name of the state */
    char nodes[TASK_TEXT_MAX];
    char reason[TASK_TEXT_MAX]; /* "" when it gives none */
};

struct task_list {
    struct task_report *item; /* owned */
    size_t count, cap;
};

/* Which task this process is, as the scheduler's environment says. */
struct task_identity {
    int64_t job, index, restart;
    const char *host; /* "" when unknown */
};

struct scheduler_ops {
    const char *kind;           /* the plan's scheduler.kind */
    const char *title;          /* in messages */
    const char *cancel_command; /* what users type to cancel jobs */

    /* Whether this process runs on time that this scheduler granted. */
    bool (*is_here)(void);
    int (*identify)(struct task_identity *out, struct err *err);
    /* Gives what this process was given of the machine's GPUs. Unless by_scheduler, a run must lock those
     * that it uses against other runs on the machine. amd: whose GPUs the node has. */
    gpu_granted *granted;

    /* NULL where there is nothing to submit to: the supervisor runs the tests itself. */
    int (*submit)(struct loop *loop, const struct array_request *request, int64_t *job, bool *reachable,
                  struct err *err);
    /* Lists every task of jobs of that name that the scheduler still knows of, ended ones included. */
    int (*poll)(struct loop *loop, const char *name, struct task_list *out, bool *reachable, struct err *err);
    /* Jobs that have ended already are no error. */
    int (*cancel)(struct loop *loop, const int64_t *jobs, size_t count, bool *reachable, struct err *err);
};

extern const struct scheduler_ops scheduler_local, scheduler_slurm;

/* Returns the scheduler that a plan asks for, never NULL. */
const struct scheduler_ops *scheduler_for(const struct scheduler *how);
/* Returns the scheduler that this process runs under, never NULL. */
const struct scheduler_ops *scheduler_here(void);

/* Whether a task in this state never runs again by itself. */
bool task_state_is_final(enum task_state state);
void task_list_release(struct task_list *list);
