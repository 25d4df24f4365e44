#include "executor/scheduler/dispatch.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/scheduler/array_queue.h"
#include "executor/suite/adopt.h"
#include "executor/suite/test.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    JOBS_MAX = 6,   /* a test is given up when it was lost with that many jobs */
    OVERTIME_S = 60 /* how long jobs may take to end once all tests are final */
};

enum phase { PHASE_NEW, PHASE_PREPARING, PHASE_READY };

struct dispatch {
    struct suite *s;
    struct array_queue queue;
    enum phase *phase;   /* owned; by variant */
    int64_t deadline_ns; /* for jobs to end once all tests are final; 0 before */
};

/* Takes over what a job that prepares found. Returns 1 it prepared its variant, 0 not (yet), -1 error. */
static int adopt_preparation(struct dispatch *d, const struct array_job *a, struct err *err)
{
    char dir[FS_PATH_MAX];
    if (!a->prepare || !a->task[0].over || !*a->task[0].accepted)
        return 0;
    if (array_job_attempt_dir(a, 0, d->s, dir, err) != 0)
        return -1;
    return adopt_variant(d->s, a->variant, dir, err);
}

/* Finds out how far each variant came under an earlier supervisor. */
static int restore_phases(struct dispatch *d, struct err *err)
{
    for (size_t i = 0; i < d->queue.count; i++) {
        const struct array_job *a = &d->queue.job[i];
        int done = adopt_preparation(d, a, err);
        if (done < 0)
            return -1;
        if (done || !a->prepare)
            d->phase[a->variant] = PHASE_READY;
        else if (!array_job_is_over(a))
            d->phase[a->variant] = PHASE_PREPARING;
    }
    return 0;
}

static int dispatch_open(struct dispatch *d, struct err *err)
{
    if (array_queue_open(&d->queue, d->s, err) != 0)
        return -1;
    d->phase = xcalloc(d->s->job.variant_count, sizeof *d->phase);
    return restore_phases(d, err);
}

static void dispatch_close(struct dispatch *d)
{
    array_queue_close(&d->queue);
    free(d->phase);
}

static unsigned count_preparations(const struct dispatch *d, size_t v)
{
    unsigned count = 0;
    for (size_t i = 0; i < d->queue.count; i++)
        count += d->queue.job[i].variant == v && d->queue.job[i].prepare;
    return count;
}

static int begin_preparation(struct dispatch *d, size_t v, struct err *err)
{
    struct variant_state *state = &d->s->variant[v];
    bool built = *state->build_key != '\0';
    unsigned lost = count_preparations(d, v);
    d->phase[v] = PHASE_READY;
    if (state->status != STATUS_OK || (built && d->s->job.variant[v].gate_count == 0))
        return 0;
    if (lost >= ATTEMPTS_MAX) {
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "the job that prepares it was lost %u times; see the journal's NODE events",
                   lost);
        return 0;
    }
    struct array_job *a = array_queue_new(&d->queue, v, 1);
    a->prepare = true;
    snprintf(a->build, sizeof a->build, "%s", state->build_key);
    d->phase[v] = PHASE_PREPARING;
    return array_queue_submit_new(&d->queue, err);
}

static int end_preparation(struct dispatch *d, size_t v, struct err *err)
{
    int done = 0;
    for (size_t i = 0; i < d->queue.count && done == 0; i++) {
        const struct array_job *a = &d->queue.job[i];
        if (a->variant != v || !a->prepare)
            continue;
        if (!array_job_is_over(a))
            return 0;
        done = adopt_preparation(d, a, err);
    }
    if (done >= 0)
        d->phase[v] = done ? PHASE_READY : PHASE_NEW;
    return done < 0 ? -1 : 0;
}

/* The array jobs that have contained a test. */
struct history {
    unsigned over;
    bool busy; /* one that is not over has it */
};

/* Returns one for each test of the job; the caller frees them. */
static struct history *collect_history(const struct dispatch *d, size_t v)
{
    struct history *history = xcalloc(d->s->job.test_count, sizeof *history);
    for (size_t i = 0; i < d->queue.count; i++) {
        const struct array_job *a = &d->queue.job[i];
        for (size_t k = 0; a->variant == v && k < a->count; k++)
            for (size_t j = 0; j < a->task[k].count; j++) {
                struct history *h = &history[a->task[k].test[j]];
                h->over += a->task[k].over;
                h->busy |= !a->task[k].over;
            }
    }
    return history;
}

/* *wanted: the test is to be submitted now. A test that will never run gets its artifact here. */
static int check_wanted(struct dispatch *d, size_t test, const struct history *h, bool *wanted,
                        struct err *err)
{
    const struct test_state *t = &d->s->test[test];
    const struct variant_state *v = &d->s->variant[d->s->job.test[test].variant];
    struct assessment why = {.status = STATUS_SKIPPED};
    *wanted = false;
    if (t->final || h->busy)
        return 0;
    if (v->status != STATUS_OK) {
        reason_set(why.reason, "%s: %s", status_name(v->status), v->reason);
    } else if (t->attempts >= ATTEMPTS_MAX || h->over >= JOBS_MAX) {
        why.status = STATUS_INTERRUPTED;
        reason_set(why.reason, "lost with its job in each of %u jobs%s%s", h->over,
                   t->reason ? "; the last: " : "", t->reason ? t->reason : "");
    } else {
        *wanted = true;
        return 0;
    }
    return test_skip(d->s, test, &why, err);
}

/* Returns how many contexts one task can measure at once, each on GPUs of its own. */
static size_t contexts_a_task(const struct job *job)
{
    bool several = job->gpus.given && job->gpus.amount == GPUS_ALL;
    size_t groups = several ? scheduler_gpus(&job->scheduler) / job->gpus.per_test : 1;
    return groups > 0 ? groups : 1;
}

/* Whether the context is one of those that the task has, or may still get. */
static bool belongs(const struct job *job, const struct array_task *t, int64_t context)
{
    size_t contexts = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t k = 0;
        while (job->test[t->test[k]].context != job->test[t->test[i]].context)
            k++;
        contexts += k == i;
        if (job->test[t->test[i]].context == context)
            return true;
    }
    return contexts < contexts_a_task(job);
}

/* Moves tests into one task: all of one context, or of as many as it has GPUs for; with one job per test, the
 * warm-up tests up to the first that is measured. Tests of a context run in order on one machine. */
static void fill_task(const struct job *job, struct array_task *t, size_t first, bool *wanted)
{
    bool one_test = job->scheduler.granularity == GRANULARITY_TEST;
    for (size_t i = first; i < job->test_count; i++) {
        bool own = job->test[i].context == job->test[first].context;
        if (!wanted[i] || (one_test ? !own : !belongs(job, t, job->test[i].context)))
            continue;
        wanted[i] = false;
        array_task_add_test(t, i);
        if (one_test && !job->test[i].warmup)
            break;
    }
}

/* Submits one job with as many of the wanted tests as it may contain. */
static int submit_wanted(struct dispatch *d, size_t v, bool *wanted, struct err *err)
{
    const struct job *job = &d->s->job;
    size_t used = 0;
    size_t tasks = job->scheduler.granularity == GRANULARITY_TEST ? 1 : (size_t)job->scheduler.array_max;
    if (tasks > job->test_count)
        tasks = job->test_count;
    struct array_job *a = array_queue_new(&d->queue, v, tasks);
    snprintf(a->build, sizeof a->build, "%s", d->s->variant[v].build_key);
    for (size_t i = 0; i < job->test_count && used < tasks; i++)
        if (wanted[i])
            fill_task(job, &a->task[used++], i, wanted);
    a->count = used; /* the others have no tests to free */
    return array_queue_submit_new(&d->queue, err);
}

static bool any(const bool *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wanted[i])
            return true;
    return false;
}

static int submit_tests(struct dispatch *d, size_t v, struct err *err)
{
    const struct job *job = &d->s->job;
    AUTO_FREE bool *wanted = xcalloc(job->test_count, sizeof *wanted);
    AUTO_FREE struct history *history = collect_history(d, v);
    for (size_t i = 0; i < job->test_count; i++)
        if (job->test[i].variant == v && check_wanted(d, i, &history[i], &wanted[i], err) != 0)
            return -1;
    while (any(wanted, job->test_count) && !d->queue.refusal[0] && !d->s->loop.stop)
        if (submit_wanted(d, v, wanted, err) != 0)
            return -1;
    return 0;
}

static int advance_variant(struct dispatch *d, size_t v, struct err *err)
{
    if (d->phase[v] == PHASE_PREPARING && end_preparation(d, v, err) != 0)
        return -1;
    if (d->phase[v] == PHASE_NEW && begin_preparation(d, v, err) != 0)
        return -1;
    return d->phase[v] == PHASE_READY ? submit_tests(d, v, err) : 0;
}

static int advance(struct dispatch *d, struct err *err)
{
    for (size_t v = 0; v < d->s->job.variant_count && !d->s->loop.stop; v++)
        if (advance_variant(d, v, err) != 0)
            return -1;
    return 0;
}

/* Jobs whose tests are all final soon end by themselves; if not, they are cancelled. */
static int limit_overtime(struct dispatch *d, struct err *err)
{
    if (d->s->tests_done < d->s->job.test_count)
        return 0;
    if (d->deadline_ns == 0)
        d->deadline_ns = clock_deadline_ns(OVERTIME_S);
    return clock_left_ms(d->deadline_ns) > 0 ? 0 : array_queue_cancel(&d->queue, err);
}

/* Returns as dispatch_run(). */
static int dispatch_loop(struct dispatch *d, char *reason, struct err *err)
{
    struct array_queue *q = &d->queue;
    while (!d->s->loop.stop) {
        q->refusal[0] = '\0';
        if (array_queue_update(q, err) != 0 || advance(d, err) != 0 || limit_overtime(d, err) != 0)
            return -1;
        if (q->refusal[0] && !array_queue_is_live(q)) { /* with live jobs it may be a limit on their number */
            reason_set(reason, "%s refuses the jobs of this plan: %.400s", q->ops->title, q->refusal);
            return 0;
        }
        if (d->s->tests_done == d->s->job.test_count && array_queue_is_over(q))
            return 1;
        if (array_queue_wait(q, err) != 0)
            return -1;
    }
    return suite_cancelled(d->s) && array_queue_cancel(q, err) != 0 ? -1 : 1;
}

int dispatch_run(struct suite *s, char *reason, struct err *err)
{
    AUTO(dispatch_close) struct dispatch d = {.s = s};
    return dispatch_open(&d, err) != 0 ? -1 : dispatch_loop(&d, reason, err);
}

int dispatch_cancel(struct suite *s, struct err *err)
{
    AUTO(dispatch_close) struct dispatch d = {.s = s};
    return dispatch_open(&d, err) != 0 ? -1 : array_queue_cancel(&d.queue, err);
}
