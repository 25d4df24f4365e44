#include "executor/scheduler/array_queue.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/scheduler/relay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double update_interval_s = 1, cancel_limit_s = 40;

/* The script of every job of every run; what differs is passed as arguments. */
static const char script_text[] = "#!/bin/sh\n"
                                  "# one task of a kernsweep run: EXECUTOR WORKDIR RUN ARRAY\n"
                                  "exec \"$1\" task --workdir \"$2\" --run \"$3\" --array \"$4\"\n";

static int load_jobs(struct array_queue *q, struct err *err)
{
    int rc = 1;
    while (rc == 1) {
        ALLOC_GROW(q->job, q->count + 1, q->cap);
        rc = array_job_load(&q->job[q->count], q->s, (int)q->count + 1, err);
        q->count += rc == 1;
    }
    return rc;
}

int array_queue_open(struct array_queue *q, struct suite *s, struct err *err)
{
    char dir[FS_PATH_MAX];
    *q = (struct array_queue){.s = s, .ops = scheduler_for(&s->job.scheduler)};
    snprintf(q->name, sizeof q->name, SCHEDULER_RUN_NAME, s->job.run_id);
    if (readlink("/proc/self/exe", q->self, sizeof q->self - 1) <= 0)
        return err_set(err, ERR_INTERNAL, "cannot find the path of this program");
    if (fs_join(dir, err, s->dir, RUN_ARRAYS) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        fs_join(q->script, err, dir, "job.sh") != 0 ||
        fs_write_file(q->script, script_text, sizeof script_text - 1, 0700, err) != 0)
        return -1;
    return load_jobs(q, err);
}

void array_queue_close(struct array_queue *q)
{
    for (size_t i = 0; i < q->count; i++)
        array_job_release(&q->job[i]);
    free(q->job);
    q->job = NULL;
    q->count = 0;
}

/* Followers are told once per reason that the run is waiting for something external, and when it goes on:
 * NODE events with a `stalled` member, an object while it waits and null after. Takes stalled. */
static int tell_stall(struct suite *s, const char *message, json_t *stalled, struct err *err)
{
    return journal_add(&s->journal, EVENT_NODE,
                       json_pack("{s:s, s:o}", "message", message, "stalled", stalled), err);
}

/* patience_s: how long to follow without a change; NaN: indefinitely. */
static int stall_begin(struct stall *stall, struct suite *s, const char *reason, double patience_s,
                       struct err *err)
{
    if (strcmp(stall->reason, reason) == 0)
        return 0;
    reason_set(stall->reason, "%s", reason);
    stall->on = true;
    return tell_stall(s, stall->reason, json_pack("{s:o}", "patience_s", artifact_number(patience_s)), err);
}

static int stall_end(struct stall *stall, struct suite *s, const char *message, struct err *err)
{
    if (!stall->on)
        return 0;
    *stall = (struct stall){.on = false};
    return tell_stall(s, message, json_null(), err);
}

/* Notes whether the scheduler answered, after every call to it. Returns 0 it answered, 1 it did not and the
 * error is noted, -1 error. */
static int note_answer(struct array_queue *q, int rc, bool reachable, struct err *err)
{
    char text[REASON_MAX];
    if (rc == 0 || reachable) {
        bool was_down = q->down;
        q->down = false;
        reason_set(text, "%s answers again", q->ops->title);
        return was_down ? stall_end(&q->stall, q->s, text, err) : 0;
    }
    if (q->s->loop.stop)
        return 1;
    q->down = true;
    reason_set(text, "%s does not answer (%.200s); running jobs continue", q->ops->title, err->msg);
    *err = (struct err){.kind = ERR_NONE};
    return stall_begin(&q->stall, q->s, text, q->s->job.scheduler.patience_s, err) == 0 ? 1 : -1;
}

static int submit(struct array_queue *q, struct array_job *a, struct err *err)
{
    char number[16], log_dir[FS_PATH_MAX];
    const struct scheduler *how = &q->s->job.scheduler;
    const char *argv[] = {q->script, q->self, q->s->layout->workdir, q->s->job.run_id, number, NULL};
    struct array_request request = {.how = how,
                                    .name = q->name,
                                    .number = a->number,
                                    .tasks = a->count,
                                    .log_dir = log_dir,
                                    .argv = argv};
    int64_t id;
    bool reachable;
    snprintf(number, sizeof number, "%d", a->number);
    for (size_t i = 0; i < a->count; i++)
        request.limit_s = fmax(request.limit_s, array_job_limit_s(a, i, q->s) + how->slack_s);
    if (array_job_path(q->s->dir, log_dir, err, "%d", a->number) != 0)
        return -1;
    int rc = q->ops->submit(&q->s->loop, &request, &id, &reachable, err);
    if (rc == 0)
        return array_job_save_id(a, q->s, id, err) != 0 ? -1 : note_answer(q, 0, true, err);
    if (err->kind != ERR_NODE)
        return -1;
    if (!reachable)
        return note_answer(q, rc, false, err) < 0 ? -1 : 0;
    reason_set(q->refusal, "%.400s", err->msg);
    *err = (struct err){.kind = ERR_NONE};
    return 0;
}

struct array_job *array_queue_new(struct array_queue *q, size_t variant, size_t tasks)
{
    ALLOC_GROW(q->job, q->count + 1, q->cap);
    struct array_job *a = &q->job[q->count];
    array_job_init(a, (int)q->count + 1, variant, tasks);
    return a;
}

/* A job is saved before it is submitted: should anything die in between, the job can be recognised by its
 * name. */
int array_queue_submit_new(struct array_queue *q, struct err *err)
{
    struct array_job *a = &q->job[q->count];
    if (array_job_save(a, q->s, err) != 0) {
        array_job_release(a);
        return -1;
    }
    q->count++;
    return submit(q, a, err);
}

static struct array_job *find_job(struct array_queue *q, int number)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->job[i].number == number)
            return &q->job[i];
    return NULL;
}

/* Takes the id of a job from the queue, because the answer to its submission was lost. */
static int adopt_id(struct array_queue *q, struct array_job *a, int64_t id, struct err *err)
{
    for (size_t k = 0; k < a->count; k++)
        a->task[k].lost_polls = 0;
    return array_job_save_id(a, q->s, id, err);
}

static int apply_report(struct array_queue *q, const struct task_report *report, struct err *err)
{
    struct array_job *a = find_job(q, report->number);
    if (!a)
        return 0;
    if (a->id == 0 && adopt_id(q, a, report->job, err) != 0)
        return -1;
    if (a->id != report->job || report->index < 1 || (size_t)report->index > a->count)
        return 0;
    struct array_task *t = &a->task[report->index - 1];
    t->seen = *report;
    if (!task_state_is_final(report->state))
        t->lost_polls = 0;
    return 0;
}

static int apply_reports(struct array_queue *q, const struct task_list *list, struct err *err)
{
    for (size_t i = 0; i < q->count; i++)
        for (size_t k = 0; k < q->job[i].count; k++)
            q->job[i].task[k].lost_polls++;
    for (size_t i = 0; i < list->count; i++)
        if (apply_report(q, &list->item[i], err) != 0)
            return -1;
    return 0;
}

/* A job without an id that the queue does not show was never accepted. */
static int submit_missing(struct array_queue *q, struct err *err)
{
    for (size_t i = 0; i < q->count && !q->down; i++) {
        struct array_job *a = &q->job[i];
        if (a->id == 0 && !array_job_is_over(a) && submit(q, a, err) != 0)
            return -1;
    }
    return 0;
}

static int poll_scheduler(struct array_queue *q, struct err *err)
{
    AUTO(task_list_release) struct task_list list = {.item = NULL};
    bool reachable;
    int rc = q->ops->poll(&q->s->loop, q->name, &list, &reachable, err);
    q->poll_ns = clock_deadline_ns(q->s->job.scheduler.poll_s);
    if (rc != 0 && err->kind != ERR_NODE)
        return -1;
    int noted = note_answer(q, rc, false, err); /* a refused poll may be granted later */
    if (rc != 0 || noted != 0)
        return noted < 0 ? -1 : 0;
    return apply_reports(q, &list, err) != 0 || submit_missing(q, err) != 0 ? -1 : 0;
}

static bool is_started(const struct array_task *t)
{
    return *t->attempt || t->seen.state == TASK_RUNNING;
}

/* Tells why nothing runs while something waits. */
static int report_waiting(struct array_queue *q, struct err *err)
{
    const struct array_task *waiting = NULL;
    const struct array_job *of = NULL;
    char text[REASON_MAX];
    double patience_s = q->s->job.scheduler.start_patience_s;
    for (size_t i = 0; i < q->count; i++)
        for (size_t k = 0; k < q->job[i].count; k++) {
            const struct array_task *t = &q->job[i].task[k];
            if (!t->over && is_started(t))
                return q->down ? 0 : stall_end(&q->stall, q->s, "jobs are running again", err);
            if (!t->over && !waiting && t->seen.state == TASK_PENDING && *t->seen.reason) {
                waiting = t;
                of = &q->job[i];
            }
        }
    if (!waiting || q->down)
        return 0;
    reason_set(text, "no job is running; job %lld of %s is waiting: %s", (long long)of->id,
               q->s->job.variant[of->variant].name, waiting->seen.reason);
    return stall_begin(&q->stall, q->s, text, patience_s > 0 ? patience_s : (double)NAN, err);
}

int array_queue_update(struct array_queue *q, struct err *err)
{
    for (size_t i = 0; i < q->count; i++) {
        struct array_job *a = &q->job[i];
        if (array_job_is_over(a))
            continue;
        if (array_job_find_attempts(a, q->s, err) != 0)
            return -1;
        for (size_t k = 0; k < a->count; k++)
            if (!a->task[k].over && (relay_collect(q->s, a, k, err) != 0 || task_end(q->s, a, k, err) != 0))
                return -1;
    }
    if (clock_left_ms(q->poll_ns) > 0)
        return 0;
    return poll_scheduler(q, err) != 0 ? -1 : report_waiting(q, err);
}

int array_queue_wait(struct array_queue *q, struct err *err)
{
    double wait_s = fmin(q->s->job.scheduler.poll_s, update_interval_s);
    return loop_wait_for(&q->s->loop, NULL, clock_deadline_ns(wait_s), err);
}

bool array_queue_is_over(const struct array_queue *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (!array_job_is_over(&q->job[i]))
            return false;
    return true;
}

bool array_queue_is_live(const struct array_queue *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->job[i].id > 0 && !array_job_is_over(&q->job[i]))
            return true;
    return false;
}

static int cancel_jobs(struct array_queue *q, bool *done, struct err *err)
{
    AUTO_FREE int64_t *ids = xcalloc(q->count, sizeof *ids);
    size_t n = 0;
    bool reachable;
    for (size_t i = 0; i < q->count; i++)
        if (q->job[i].id > 0 && !array_job_is_over(&q->job[i]))
            ids[n++] = q->job[i].id;
    int rc = q->ops->cancel(&q->s->loop, ids, n, &reachable, err);
    *done = rc == 0 && n > 0;
    if (rc == 0 || err->kind != ERR_NODE)
        return rc;
    *err = (struct err){.kind = ERR_NONE}; /* tried again in the next turn */
    return 0;
}

static int abandon_jobs(struct array_queue *q, struct err *err)
{
    AUTO(buf_release) struct buf ids = {.max = REASON_MAX - 64};
    for (size_t i = 0; i < q->count; i++) {
        struct array_job *a = &q->job[i];
        if (!array_job_is_over(a) && a->id > 0)
            buf_printf(&ids, " %lld", (long long)a->id);
        for (size_t k = 0; k < a->count; k++)
            if (!a->task[k].over && array_job_end_task(a, k, q->s, "given up", err) != 0)
                return -1;
    }
    if (ids.len == 0)
        return 0;
    return suite_note(q->s, err, "some jobs may still be running; once %s answers, run: %s%s", q->ops->title,
                      q->ops->cancel_command, buf_str(&ids));
}

static int cancel_turn(struct array_queue *q, bool *cancelled, struct err *err)
{
    q->s->loop.stop = false; /* or the calls below would end at once */
    q->poll_ns = 0;
    if ((!*cancelled && cancel_jobs(q, cancelled, err) != 0) || array_queue_update(q, err) != 0)
        return -1;
    return array_queue_is_over(q) ? 0 : array_queue_wait(q, err);
}

int array_queue_cancel(struct array_queue *q, struct err *err)
{
    int64_t deadline_ns = clock_deadline_ns(cancel_limit_s);
    bool stop = q->s->loop.stop, cancelled = false;
    int rc = 0;
    while (rc == 0 && !array_queue_is_over(q) && clock_left_ms(deadline_ns) > 0)
        rc = cancel_turn(q, &cancelled, err);
    if (rc == 0)
        rc = abandon_jobs(q, err);
    q->s->loop.stop = stop;
    return rc;
}
