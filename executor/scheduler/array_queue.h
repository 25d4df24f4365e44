/* array_queue: all array jobs of a run that goes through a scheduler: submitting, following and cancelling
 * them. The journals of the tasks are authoritative; polling only adds what no journal can show: that a task
 * will write no more, or why it waits. All state is on disk before a job is submitted, and a job whose
 * submission was not answered is found by its name, so the supervisor may die at any time. Knows nothing of
 * why a job is needed (see dispatch).
 */
#pragma once

#include "executor/scheduler/array_job.h"

/* What the run waits for. */
struct stall {
    bool on;
    char reason[REASON_MAX]; /* of the last event */
};

struct array_queue {
    struct suite *s;
    const struct scheduler_ops *ops;
    struct array_job *job; /* owned, as the array is */
    size_t count, cap;
    char name[FS_PATH_MAX];   /* shared by all jobs of the run */
    char script[FS_PATH_MAX]; /* of every job */
    char self[FS_PATH_MAX];   /* this program, an argument of the script */
    int64_t poll_ns;          /* when to poll next */
    bool down;                /* the scheduler did not answer the last time */
    struct stall stall;
    char refusal[REASON_MAX]; /* why it refused the last job; "" */
};

/* Writes the script and reads what an earlier supervisor submitted. To be closed even after a failure. */
int array_queue_open(struct array_queue *q, struct suite *s, struct err *err);
void array_queue_close(struct array_queue *q);

/* Returns a new job for the caller to fill, then to submit or release. It is valid until the next call. */
struct array_job *array_queue_new(struct array_queue *q, size_t variant, size_t tasks);
/* When the scheduler does not answer (q->down) or refuses (q->refusal), the job stays unsubmitted. */
int array_queue_submit_new(struct array_queue *q, struct err *err);

/* Collects what tasks wrote, polls when it is time, and ends tasks that are done or lost. */
int array_queue_update(struct array_queue *q, struct err *err);
/* Waits until the next update is due, or a signal came. */
int array_queue_wait(struct array_queue *q, struct err *err);
/* Cancels the jobs, waits for their end within a limit, and fences what is left. */
int array_queue_cancel(struct array_queue *q, struct err *err);

bool array_queue_is_over(const struct array_queue *q);
/* Whether a submitted job is not over yet. */
bool array_queue_is_live(const struct array_queue *q);
