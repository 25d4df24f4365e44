/* order: one array job of a run, as it is kept in the run's folder on the shared file system:
 *
 *   .slurm/<number>.json                     what was ordered: a variant, and the tests of each task
 *   .slurm/<number>/job                      the array job's id, once Slurm gave one
 *   .slurm/<number>/<index>.over             nobody waits for the task any more: its fence. Holds the attempt
 *                                            that was believed and why
 *   .slurm/<number>/<index>.<job>.<restart>/ what one attempt at the task wrote, a run folder inside
 *   .slurm/<number>/<index>.<job>.log        what its processes printed
 *
 * Only the run's supervisor writes orders and fences; only an attempt writes in its own folder. Knows nothing
 * of how jobs are submitted. Indices count from 1, as Slurm's here.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_ORDER_H
#define KERNSWEEP_EXECUTOR_RUN_ORDER_H

#include "executor/run/suite.h"

enum { ATTEMPT_ID_MAX = 64 };

struct order_task {
    size_t *test; /* owned; positions in the job */
    size_t count;
    bool over;
    char believed[ATTEMPT_ID_MAX]; /* the attempt, "" when none was */
    /* Of the attempt that is followed now: */
    char attempt[ATTEMPT_ID_MAX]; /* "" before it has started */
    int restart;
    int64_t offset; /* in its journal */
    bool closed;    /* it wrote its manifest and all of it was taken over */
    bool queued;    /* the queue showed it once */
    unsigned gone;  /* looks at the queue in a row that did not find it alive */
    char state[24], nodes[128], reason[128];
};

struct order {
    int number;
    size_t variant;
    bool prepare;
    char build[SHA256_HEX_LEN + 1];
    int64_t job; /* 0: not known to be submitted */
    struct order_task *task;
    size_t count;
};

/* .slurm in the run's folder, or a name in it. out: char[FS_PATH_MAX]. */
int order_path(const char *run_dir, char *out, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Makes room for `tasks` tasks; the caller fills them. */
int order_init(struct order *o, int number, size_t variant, size_t tasks, struct err *err);
void order_release(struct order *o);
int order_add_test(struct order_task *t, size_t test, struct err *err);

/* Writes what is ordered, with how often each test was tried before. */
int order_save(const struct order *o, const struct suite *s, struct err *err);
int order_save_job(struct order *o, const struct suite *s, int64_t job, struct err *err);
/* 1 read, 0 there is no such order, -1 error. */
int order_load(struct order *o, const struct suite *s, int number, struct err *err);
/* Puts up the fence. */
int order_end_task(struct order *o, size_t index, const struct suite *s, const char *why, struct err *err);

/* Finds the newest attempt at each task. */
int order_find_attempts(struct order *o, const struct suite *s, struct err *err);
/* The run folder inside the attempt's. */
int order_attempt_dir(const struct order *o, size_t index, const struct suite *s, char *out, struct err *err);

bool order_is_over(const struct order *o);

#endif
