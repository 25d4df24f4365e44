/* array_job: one array job of a run, as it is kept in the run's folder on the shared file system:
 *
 *   .arrays/<number>.json                    what it does: a variant, and the tests of each task
 *   .arrays/<number>/job                     the scheduler's id of the job, once it is known
 *   .arrays/<number>/<index>.over            the task's fence: its results are no longer needed;
 *                                            the attempt that was accepted, and why it is over
 *   .arrays/<number>/<index>.<id>.<restart>/ what one attempt wrote; a run folder is inside
 *   .arrays/<number>/<index>.<id>.log        the output of its processes
 *
 * Only the run's supervisor writes array jobs and fences; only an attempt writes to its own folder. Knows
 * nothing of how jobs are submitted. Task indices count from 1 in file names, from 0 here.
 */
#pragma once

#include "executor/scheduler/scheduler.h"
#include "executor/suite/suite.h"

enum { ATTEMPT_ID_MAX = 64 };

struct array_task {
    size_t *test; /* owned; positions in the job */
    size_t count, cap;
    bool over;
    char accepted[ATTEMPT_ID_MAX]; /* the attempt whose results count, "" when none do */
    /* The attempt that is followed now: */
    char attempt[ATTEMPT_ID_MAX]; /* "" before it has started */
    int restart;
    int64_t offset;          /* in its journal */
    bool closed;             /* it wrote its manifest, and all of it has been collected */
    unsigned lost_polls;     /* consecutive polls that did not find it alive */
    struct task_report seen; /* in the last poll that showed it */
};

struct array_job {
    int number;
    size_t variant;
    bool prepare; /* builds the variant and runs its gates */
    char build[SHA256_HEX_LEN + 1];
    int64_t id; /* the scheduler's; 0: not known to be submitted */
    struct array_task *task;
    size_t count;
};

/* Gives a path below the run's .arrays. out: char[FS_PATH_MAX]. */
int array_job_path(const char *run_dir, char *out, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Allocates that many empty tasks; the caller fills them. */
void array_job_init(struct array_job *a, int number, size_t variant, size_t tasks);
void array_job_release(struct array_job *a);
void array_task_add_test(struct array_task *t, size_t test);

/* Writes what the job does, with each test's number of earlier attempts. */
int array_job_save(const struct array_job *a, const struct suite *s, struct err *err);
int array_job_save_id(struct array_job *a, const struct suite *s, int64_t id, struct err *err);
/* Returns 1 read, 0 there is no such job, -1 error. */
int array_job_load(struct array_job *a, const struct suite *s, int number, struct err *err);
/* Writes the task's fence. */
int array_job_end_task(struct array_job *a, size_t index, const struct suite *s, const char *why,
                       struct err *err);

/* Finds the newest attempt at each task. */
int array_job_find_attempts(struct array_job *a, const struct suite *s, struct err *err);
/* Gives the run folder inside the attempt's. */
int array_job_attempt_dir(const struct array_job *a, size_t index, const struct suite *s, char *out,
                          struct err *err);

/* Returns the longest time that the task may take, by the limits of what it runs. */
double array_job_limit_s(const struct array_job *a, size_t index, const struct suite *s);
bool array_job_is_over(const struct array_job *a);
