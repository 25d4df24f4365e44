/* What is to be ordered next, until every test is final. */
#include "executor/run/dispatch.h"

#include "common/base/clock.h"
#include "executor/run/adopt.h"
#include "executor/run/build.h"
#include "executor/run/dispatch_parts.h"
#include "executor/run/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ORDERS_MAX = 6, /* in which a test, or a variant's preparation, may be lost before it is given up */
    OVERTIME_S = 60 /* that jobs may take to end when all their tests are final */
};

/* What every job of every run starts; what differs comes as arguments. */
static const char script_text[] = "#!/bin/sh\n"
                                  "# one task of a kernsweep run: EXECUTOR WORKDIR RUN ORDER\n"
                                  "exec \"$1\" task --workdir \"$2\" --run \"$3\" --order \"$4\"\n";

static int grow(struct dispatch *d, struct order **out, struct err *err)
{
    struct order *more = d->order;
    if ((d->count & (d->count - 1)) == 0)
        more = realloc(d->order, (d->count ? 2 * d->count : 1) * sizeof *more);
    if (!more)
        return err_set(err, ERR_INTERNAL, "no memory for an order");
    d->order = more;
    *out = &more[d->count];
    return 0;
}

/* What an earlier supervisor ordered. */
static int load_orders(struct dispatch *d, struct err *err)
{
    struct order *o;
    int rc;
    do {
        if (grow(d, &o, err) != 0)
            return -1;
        rc = order_load(o, d->s, (int)d->count + 1, err);
        d->count += rc == 1;
    } while (rc == 1);
    return rc;
}

/* 1 the order prepared its variant, 0 it did not (yet), -1 error. */
static int take_preparation(struct dispatch *d, const struct order *o, struct err *err)
{
    char dir[FS_PATH_MAX];
    if (!o->prepare || !o->task[0].over || !*o->task[0].believed)
        return 0;
    if (order_attempt_dir(o, 0, d->s, dir, err) != 0)
        return -1;
    return adopt_variant(d->s, o->variant, dir, err);
}

static int recall_phases(struct dispatch *d, struct err *err)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct order *o = &d->order[i];
        int done = take_preparation(d, o, err);
        if (done < 0)
            return -1;
        if (done || !o->prepare)
            d->phase[o->variant] = PHASE_READY;
        else if (!order_is_over(o))
            d->phase[o->variant] = PHASE_PREPARING;
    }
    return 0;
}

static int open_dispatch(struct dispatch *d, struct suite *s, struct err *err)
{
    char dir[FS_PATH_MAX];
    *d = (struct dispatch){.s = s};
    snprintf(d->name, sizeof d->name, "kernsweep-%s", s->job.run_id);
    ssize_t n = readlink("/proc/self/exe", d->self, sizeof d->self - 1);
    if (n <= 0)
        return err_set(err, ERR_INTERNAL, "cannot tell where this program is");
    d->phase = calloc(s->job.variant_count, sizeof *d->phase);
    if (!d->phase)
        return err_set(err, ERR_INTERNAL, "no memory for the variants");
    if (fs_join(dir, err, s->dir, RUN_ORDERS) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        fs_join(d->script, err, dir, "job.sh") != 0 ||
        fs_write_file(d->script, script_text, sizeof script_text - 1, 0700, err) != 0 ||
        load_orders(d, err) != 0)
        return -1;
    return recall_phases(d, err);
}

static void close_dispatch(struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++)
        order_release(&d->order[i]);
    free(d->order);
    free(d->phase);
}

/* Saved before it is handed over, so that whatever dies in between, the job can be told from its name. */
static int place(struct dispatch *d, struct order *o, struct err *err)
{
    if (order_save(o, d->s, err) != 0) {
        order_release(o);
        return -1;
    }
    d->count++;
    return dispatch_submit(d, o, err);
}

static int prepare(struct dispatch *d, size_t v, struct err *err)
{
    const struct variant *variant = &d->s->job.variant[v];
    struct variant_state *state = &d->s->variant[v];
    bool built = *state->build_key != '\0';
    unsigned lost = 0;
    struct order *o;
    if (state->status != STATUS_OK || (built && variant->gate_count == 0)) {
        d->phase[v] = PHASE_READY;
        return 0;
    }
    for (size_t i = 0; i < d->count; i++)
        lost += d->order[i].variant == v && d->order[i].prepare;
    if (lost >= ATTEMPTS_MAX) {
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "the job that prepares it was lost %u times; see the journal's NODE events",
                   lost);
        d->phase[v] = PHASE_READY;
        return 0;
    }
    if (grow(d, &o, err) != 0 || order_init(o, (int)d->count + 1, v, 1, err) != 0)
        return -1;
    o->prepare = true;
    snprintf(o->build, sizeof o->build, "%s", state->build_key);
    d->phase[v] = PHASE_PREPARING;
    return place(d, o, err);
}

static int end_preparation(struct dispatch *d, size_t v, struct err *err)
{
    int done = 0;
    for (size_t i = 0; i < d->count && done == 0; i++) {
        const struct order *o = &d->order[i];
        if (o->variant != v || !o->prepare)
            continue;
        if (!order_is_over(o))
            return 0;
        done = take_preparation(d, o, err);
    }
    if (done >= 0)
        d->phase[v] = done ? PHASE_READY : PHASE_NEW;
    return done < 0 ? -1 : 0;
}

enum { BUSY = 1 << 30 };

/* For each test, how many jobs had it and are over, or BUSY and more while one has it. */
static unsigned *count_orders(const struct dispatch *d, size_t v)
{
    unsigned *orders = calloc(d->s->job.test_count, sizeof *orders);
    for (size_t i = 0; orders && i < d->count; i++)
        for (size_t k = 0; d->order[i].variant == v && k < d->order[i].count; k++) {
            const struct order_task *t = &d->order[i].task[k];
            for (size_t j = 0; j < t->count; j++)
                orders[t->test[j]] += t->over ? 1 : BUSY;
        }
    return orders;
}

/* True when the test is to be ordered now. One that will not run gets its artifact here. */
static int is_wanted(struct dispatch *d, size_t test, unsigned orders, bool *wanted, struct err *err)
{
    const struct test_state *t = &d->s->test[test];
    const struct variant_state *v = &d->s->variant[d->s->job.test[test].variant];
    struct verdict why = {.status = STATUS_SKIPPED};
    *wanted = false;
    if (t->final || orders >= BUSY)
        return 0;
    if (v->status != STATUS_OK) {
        reason_set(why.reason, "%s: %s", status_name(v->status), v->reason);
    } else if (t->attempts >= ATTEMPTS_MAX || orders >= ORDERS_MAX) {
        why.status = STATUS_INTERRUPTED;
        reason_set(why.reason, "lost with its job in each of %u jobs%s%s", orders,
                   t->reason ? "; the last: " : "", t->reason ? t->reason : "");
    } else {
        *wanted = true;
        return 0;
    }
    return test_skip(d->s, test, &why, err);
}

/* Puts tests of one context into one task: all of them, or, with a job for each test, the warm-up ones up to
 * the first that counts. They run in their order on one machine. */
static int fill_task(struct dispatch *d, struct order_task *t, size_t first, bool *wanted, struct err *err)
{
    const struct job *job = &d->s->job;
    for (size_t i = first; i < job->test_count; i++) {
        if (!wanted[i] || job->test[i].context != job->test[first].context)
            continue;
        wanted[i] = false;
        if (order_add_test(t, i, err) != 0)
            return -1;
        if (job->scheduler.granularity == GRANULARITY_TEST && !job->test[i].warmup)
            break;
    }
    return 0;
}

static int order_next(struct dispatch *d, size_t v, bool *wanted, struct err *err)
{
    const struct job *job = &d->s->job;
    size_t tasks = job->scheduler.granularity == GRANULARITY_TEST ? 1 : (size_t)job->scheduler.array_max,
           used = 0;
    struct order *o;
    if (tasks > job->test_count)
        tasks = job->test_count;
    if (grow(d, &o, err) != 0 || order_init(o, (int)d->count + 1, v, tasks, err) != 0)
        return -1;
    snprintf(o->build, sizeof o->build, "%s", d->s->variant[v].build_key);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < job->test_count && used < tasks; i++)
        if (wanted[i])
            rc = fill_task(d, &o->task[used++], i, wanted, err);
    o->count = used;
    if (rc == 0)
        return place(d, o, err);
    o->count = tasks;
    order_release(o);
    return -1;
}

static int order_tests(struct dispatch *d, size_t v, struct err *err)
{
    const struct job *job = &d->s->job;
    bool *wanted = calloc(job->test_count, sizeof *wanted);
    unsigned *orders = count_orders(d, v);
    size_t left = 0;
    int rc = wanted && orders ? 0 : err_set(err, ERR_INTERNAL, "no memory for an order");
    for (size_t i = 0; rc == 0 && i < job->test_count; i++) {
        if (job->test[i].variant != v)
            continue;
        rc = is_wanted(d, i, orders[i], &wanted[i], err);
        left += wanted[i];
    }
    while (rc == 0 && left > 0 && !d->refusal[0] && !d->s->loop.stop) {
        rc = order_next(d, v, wanted, err);
        left = 0;
        for (size_t i = 0; i < job->test_count; i++)
            left += wanted[i];
    }
    free(wanted);
    free(orders);
    return rc;
}

static int advance(struct dispatch *d, struct err *err)
{
    for (size_t v = 0; v < d->s->job.variant_count && !d->s->loop.stop; v++) {
        int rc = 0;
        if (d->phase[v] == PHASE_PREPARING)
            rc = end_preparation(d, v, err);
        if (rc == 0 && d->phase[v] == PHASE_NEW)
            rc = prepare(d, v, err);
        if (rc == 0 && d->phase[v] == PHASE_READY)
            rc = order_tests(d, v, err);
        if (rc != 0)
            return -1;
    }
    return 0;
}

static bool is_live(const struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->order[i].job > 0 && !order_is_over(&d->order[i]))
            return true;
    return false;
}

/* Jobs whose tests are all final end by themselves, soon. */
static int watch_overtime(struct dispatch *d, struct err *err)
{
    if (d->s->tests_done < d->s->job.test_count)
        return 0;
    if (d->over_ns == 0)
        d->over_ns = clock_deadline_ns(OVERTIME_S);
    return clock_left_ms(d->over_ns) > 0 ? 0 : dispatch_end_jobs(d, err);
}

/* 1 done or told to stop, 0 refused, -1 error. */
static int run(struct dispatch *d, char *reason, struct err *err)
{
    while (!d->s->loop.stop) {
        d->refusal[0] = '\0';
        if (dispatch_watch(d, err) != 0 || advance(d, err) != 0 || watch_overtime(d, err) != 0)
            return -1;
        if (d->refusal[0] && !is_live(d)) { /* while jobs are there it may be a limit on their number */
            reason_set(reason, "Slurm takes no job of this plan: %.400s", d->refusal);
            return 0;
        }
        if (d->s->tests_done == d->s->job.test_count && dispatch_all_over(d))
            return 1;
        if (dispatch_wait(d, err) != 0)
            return -1;
    }
    return suite_cancelled(d->s) && dispatch_end_jobs(d, err) != 0 ? -1 : 1;
}

int dispatch_run(struct suite *s, char *reason, struct err *err)
{
    struct dispatch d;
    int rc = open_dispatch(&d, s, err);
    if (rc == 0)
        rc = run(&d, reason, err);
    close_dispatch(&d);
    return rc;
}

int dispatch_cancel(struct suite *s, struct err *err)
{
    struct dispatch d;
    int rc = open_dispatch(&d, s, err);
    if (rc == 0)
        rc = dispatch_end_jobs(&d, err);
    close_dispatch(&d);
    return rc;
}
