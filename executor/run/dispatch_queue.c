/* What became of the jobs: journals first, the queue as a hint. */
#include "executor/run/dispatch_parts.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/fault.h"
#include "executor/run/relay.h"
#include "executor/run/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GONE_LOOKS = 3 }; /* a shared folder may show a task's last files later than the queue its end */

static const double turn_s = 1, end_limit_s = 40;

/* A NODE event. stalled is taken: an object when the run begins to wait for others, JSON's null when that is
 * over, NULL when the message is about neither. */
static int tell(struct dispatch *d, const char *message, json_t *stalled, struct err *err)
{
    return journal_add(&d->s->journal, EVENT_NODE,
                       json_pack("{s:s, s:o*}", "message", message, "stalled", stalled), err);
}

/* Says why nothing moves, once a reason. patience_s: how long to follow without a change; NaN: for ever. */
static int tell_stalled(struct dispatch *d, const char *why, double patience_s, struct err *err)
{
    if (strcmp(d->told, why) == 0)
        return 0;
    reason_set(d->told, "%s", why);
    d->stalled = true;
    return tell(d, d->told, json_pack("{s:o}", "patience_s", artifact_number(patience_s)), err);
}

static int tell_moving(struct dispatch *d, const char *why, struct err *err)
{
    if (!d->stalled)
        return 0;
    d->stalled = false;
    d->told[0] = '\0';
    return tell(d, why, json_null(), err);
}

/* The controller's answer to anything: 0 it gave one, 1 it did not and the fault is noted, -1 error. */
static int note_answer(struct dispatch *d, int rc, bool reachable, struct err *err)
{
    char text[VERDICT_REASON_MAX];
    if (rc == 0 || reachable) {
        bool was_down = d->down;
        d->down = false;
        return was_down ? tell_moving(d, "the Slurm controller answers again", err) : 0;
    }
    if (d->s->loop.stop)
        return 1;
    d->down = true;
    reason_set(text, "the Slurm controller does not answer (%.200s); jobs that run go on", err->msg);
    *err = (struct err){.kind = ERR_NONE};
    return tell_stalled(d, text, d->s->job.scheduler.patience_s, err) == 0 ? 1 : -1;
}

static double task_limit_s(const struct suite *s, const struct order *o, const struct order_task *t)
{
    static const double around_s = 5; /* files, journal, cleaning up */
    const struct job *job = &s->job;
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += job->test[t->test[i]].timeout_s + job->settings.kill_grace_s + job->settings.vram_settle_s +
               around_s;
    if (!o->prepare)
        return sum;
    const struct variant *v = &job->variant[o->variant];
    for (size_t i = 0; i < v->gate_count; i++)
        sum += v->gate[i].timeout_s + job->settings.kill_grace_s;
    return sum + job->settings.build_timeout_s;
}

static int fill_slurm_order(const struct dispatch *d, const struct order *o, struct slurm_order *out,
                            struct err *err)
{
    *out = (struct slurm_order){
        .how = &d->s->job.scheduler, .name = d->name, .number = o->number, .tasks = o->count};
    for (size_t i = 0; i < o->count; i++) {
        double limit = task_limit_s(d->s, o, &o->task[i]) + out->how->slack_s;
        out->limit_s = limit > out->limit_s ? limit : out->limit_s;
    }
    if (strpbrk(d->s->dir, "%\\"))
        return err_set(err, ERR_INPUT,
                       "%s: Slurm cannot write logs below a folder with '%%' or '\\' in its name", d->s->dir);
    return order_path(d->s->dir, out->log, err, "%d/%%a.%%A.log", o->number);
}

int dispatch_submit(struct dispatch *d, struct order *o, struct err *err)
{
    char number[16];
    struct slurm_order ask;
    int64_t job;
    bool reachable;
    snprintf(number, sizeof number, "%d", o->number);
    const char *argv[] = {d->script, d->self, d->s->layout->workdir, d->s->job.run_id, number, NULL};
    if (fill_slurm_order(d, o, &ask, err) != 0)
        return -1;
    ask.argv = argv;
    int rc = slurm_submit(&d->s->loop, &ask, &job, &reachable, err);
    if (rc == 0)
        return order_save_job(o, d->s, job, err) != 0 ? -1 : note_answer(d, 0, true, err);
    if (err->kind != ERR_NODE)
        return -1;
    if (reachable) {
        reason_set(d->refusal, "%.400s", err->msg);
        *err = (struct err){.kind = ERR_NONE};
        return 0;
    }
    return note_answer(d, rc, false, err) < 0 ? -1 : 0;
}

static struct order *find_order(struct dispatch *d, const struct slurm_task *t)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->order[i].number == t->number)
            return &d->order[i];
    return NULL;
}

static int learn_job(struct order *o, const struct suite *s, int64_t job, struct err *err)
{
    for (size_t k = 0; k < o->count; k++)
        o->task[k].gone = 0;
    return order_save_job(o, s, job, err);
}

/* What the queue says of each task; an order whose answer was lost gets its job's id. */
static int take_queue(struct dispatch *d, const struct slurm_queue *q, struct err *err)
{
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->order[i].count; k++)
            d->order[i].task[k].gone++;
    for (size_t i = 0; i < q->count; i++) {
        const struct slurm_task *row = &q->task[i];
        struct order *o = find_order(d, row);
        if (o && o->job == 0 && learn_job(o, d->s, row->job, err) != 0)
            return -1;
        if (!o || o->job != row->job || row->index < 1 || (size_t)row->index > o->count)
            continue;
        struct order_task *t = &o->task[row->index - 1];
        snprintf(t->state, sizeof t->state, "%s", row->state);
        snprintf(t->nodes, sizeof t->nodes, "%s", row->nodes);
        snprintf(t->reason, sizeof t->reason, "%s", row->reason);
        t->queued = true;
        if (!slurm_state_is_final(t->state))
            t->gone = 0;
    }
    return 0;
}

/* Orders that no job was found for were never taken. */
static int submit_again(struct dispatch *d, struct err *err)
{
    for (size_t i = 0; i < d->count && !d->down; i++) {
        struct order *o = &d->order[i];
        if (o->job == 0 && !order_is_over(o) && dispatch_submit(d, o, err) != 0)
            return -1;
    }
    return 0;
}

static int look(struct dispatch *d, struct err *err)
{
    struct slurm_queue q;
    bool reachable;
    int rc = slurm_look(&d->s->loop, d->name, &q, &reachable, err);
    d->look_ns = clock_deadline_ns(d->s->job.scheduler.poll_s);
    if (rc != 0 && err->kind != ERR_NODE)
        return -1;
    int noted = note_answer(d, rc, false, err); /* what squeue refuses it may grant later */
    if (rc != 0 || noted != 0) {
        slurm_queue_release(&q);
        return noted < 0 ? -1 : 0;
    }
    rc = take_queue(d, &q, err);
    slurm_queue_release(&q);
    return rc != 0 ? -1 : submit_again(d, err);
}

/* Tests that will not be run again because somebody took their job away. */
static int skip_cancelled(struct dispatch *d, const struct order_task *t, const char *why, struct err *err)
{
    struct verdict v = {.status = STATUS_INTERRUPTED};
    reason_set(v.reason, "%s", why);
    for (size_t i = 0; i < t->count; i++)
        if (!d->s->test[t->test[i]].final && test_skip(d->s, t->test[i], &v, err) != 0)
            return -1;
    return 0;
}

/* What Slurm says, and what the task's own executor said last. */
static void describe(const struct suite *s, const struct order *o, size_t i, char *out)
{
    const struct order_task *t = &o->task[i];
    char dir[FS_PATH_MAX], fault[FAULT_MAX] = "";
    reason_set(out, "job %lld_%zu%s%s: %s", (long long)o->job, i + 1, *t->nodes ? " on " : "", t->nodes,
               !*t->state                       ? "is not in the queue any more"
               : slurm_state_is_final(t->state) ? t->state
                                                : "left the queue");
    size_t len = strlen(out);
    if (*t->reason && strcmp(t->reason, "None") != 0)
        snprintf(out + len, VERDICT_REASON_MAX - len, " (%s)", t->reason);
    if (*t->attempt && order_attempt_dir(o, i, s, dir, NULL) == 0)
        fault_read(dir, fault);
    len = strlen(out);
    if (*fault)
        snprintf(out + len, VERDICT_REASON_MAX - len, ", %.200s", fault);
}

/* By somebody. A waiting task that vanished was cancelled, too: Slurm keeps no record of it. One that had a
 * node and wrote nothing is a launch that failed, which Slurm calls the same. */
static bool is_cancelled(const struct order_task *t)
{
    if (strncmp(t->state, "CANCELLED", 9) == 0)
        return *t->attempt || !*t->nodes;
    return strcmp(t->state, "PENDING") == 0 && !*t->attempt;
}

/* The task will write no more, or is not believed when it does. */
static int lose(struct dispatch *d, struct order *o, size_t i, struct err *err)
{
    struct order_task *t = &o->task[i];
    char why[VERDICT_REASON_MAX], text[VERDICT_REASON_MAX];
    bool cancelled = is_cancelled(t);
    bool by_us = suite_cancelled(d->s);
    describe(d->s, o, i, why);
    if (order_end_task(o, i, d->s, why, err) != 0 || relay_interrupted(d->s, o, i, why, err) != 0)
        return -1;
    if (by_us)
        return 0;
    reason_set(text, "%.400s; %s", why,
               cancelled ? "it was cancelled, and not from here: its tests are given up"
                         : "what it did not finish goes to another job");
    if (tell(d, text, NULL, err) != 0)
        return -1;
    reason_set(text, "%.400s: cancelled, and not from here", why);
    return cancelled && !o->prepare ? skip_cancelled(d, t, text, err) : 0;
}

static int settle(struct dispatch *d, struct order *o, size_t i, struct err *err)
{
    struct order_task *t = &o->task[i];
    if (t->closed) {
        if (order_end_task(o, i, d->s, "done", err) != 0)
            return -1;
        return relay_interrupted(d->s, o, i, "its executor closed without a result; see the log on the node",
                                 err);
    }
    unsigned looks = suite_cancelled(d->s) ? 1 : GONE_LOOKS;
    return o->job > 0 && t->gone >= looks ? lose(d, o, i, err) : 0;
}

static bool is_started(const struct order_task *t)
{
    return *t->attempt || strcmp(t->state, "RUNNING") == 0 || strcmp(t->state, "COMPLETING") == 0;
}

/* Nothing runs, and something waits: why. */
static int tell_waiting(struct dispatch *d, struct err *err)
{
    const struct order_task *waits = NULL;
    const struct order *of = NULL;
    char text[VERDICT_REASON_MAX];
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->order[i].count; k++) {
            const struct order_task *t = &d->order[i].task[k];
            if (!t->over && is_started(t))
                return d->down ? 0 : tell_moving(d, "jobs run again", err);
            if (!t->over && !waits && strcmp(t->state, "PENDING") == 0 && *t->reason &&
                strcmp(t->reason, "None") != 0) {
                waits = t;
                of = &d->order[i];
            }
        }
    if (!waits || d->down)
        return 0;
    reason_set(text, "no job runs; job %lld of %s waits: %s", (long long)of->job,
               d->s->job.variant[of->variant].name, waits->reason);
    double patience_s = d->s->job.scheduler.start_patience_s;
    return tell_stalled(d, text, patience_s > 0 ? patience_s : (double)NAN, err);
}

int dispatch_watch(struct dispatch *d, struct err *err)
{
    bool news = false;
    for (size_t i = 0; i < d->count; i++) {
        struct order *o = &d->order[i];
        if (order_is_over(o))
            continue;
        if (order_find_attempts(o, d->s, err) != 0)
            return -1;
        for (size_t k = 0; k < o->count; k++)
            if (!o->task[k].over && (relay_task(d->s, o, k, &news, err) != 0 || settle(d, o, k, err) != 0))
                return -1;
    }
    if (clock_left_ms(d->look_ns) > 0)
        return 0;
    return look(d, err) != 0 ? -1 : tell_waiting(d, err);
}

bool dispatch_all_over(const struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (!order_is_over(&d->order[i]))
            return false;
    return true;
}

int dispatch_wait(struct dispatch *d, struct err *err)
{
    struct loop_events events = {.now_ns = 0};
    double poll_s = d->s->job.scheduler.poll_s;
    int rc = 0;
    loop_arm(&d->s->loop, LOOP_DEADLINE, clock_deadline_ns(poll_s < turn_s ? poll_s : turn_s), 0);
    while (rc == 0 && !d->s->loop.stop && !events.ready[LOOP_DEADLINE])
        rc = loop_wait(&d->s->loop, &events, err);
    loop_arm(&d->s->loop, LOOP_DEADLINE, 0, 0);
    return rc;
}

static int cancel_jobs(struct dispatch *d, bool *done, struct err *err)
{
    int64_t *jobs = calloc(d->count + 1, sizeof *jobs);
    size_t n = 0;
    bool reachable;
    if (!jobs)
        return err_set(err, ERR_INTERNAL, "no memory for the jobs");
    for (size_t i = 0; i < d->count; i++)
        if (d->order[i].job > 0 && !order_is_over(&d->order[i]))
            jobs[n++] = d->order[i].job;
    int rc = slurm_cancel(&d->s->loop, jobs, n, &reachable, err);
    free(jobs);
    *done = rc == 0 && n > 0;
    if (rc == 0 || err->kind != ERR_NODE)
        return rc;
    *err = (struct err){.kind = ERR_NONE}; /* asked again in the next turn */
    return 0;
}

static int give_up(struct dispatch *d, struct err *err)
{
    struct buf text;
    buf_init(&text, VERDICT_REASON_MAX - 64);
    for (size_t i = 0; i < d->count; i++) {
        struct order *o = &d->order[i];
        if (!order_is_over(o) && o->job > 0)
            buf_printf(&text, " %lld", (long long)o->job);
        for (size_t k = 0; k < o->count; k++)
            if (!o->task[k].over && order_end_task(o, k, d->s, "given up", err) != 0)
                return -1;
    }
    char line[VERDICT_REASON_MAX];
    reason_set(line, "jobs that did not end may still run; when Slurm answers: scancel%s", buf_str(&text));
    int rc = text.len > 0 ? tell(d, line, NULL, err) : 0;
    buf_release(&text);
    return rc;
}

int dispatch_end_jobs(struct dispatch *d, struct err *err)
{
    int64_t deadline_ns = clock_deadline_ns(end_limit_s);
    bool told = d->s->loop.stop, cancelled = false;
    int rc = 0;
    while (rc == 0 && !dispatch_all_over(d) && clock_left_ms(deadline_ns) > 0) {
        d->s->loop.stop = false; /* heard */
        d->look_ns = 0;
        if (!cancelled && cancel_jobs(d, &cancelled, err) != 0)
            return -1;
        rc = dispatch_watch(d, err);
        if (rc == 0 && !dispatch_all_over(d))
            rc = dispatch_wait(d, err);
    }
    if (rc == 0)
        rc = give_up(d, err);
    d->s->loop.stop = told;
    return rc;
}
