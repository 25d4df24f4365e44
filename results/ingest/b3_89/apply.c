/* The events of a B3.89 log, applied to the run that its artifacts gave. */
#include "common/base/word.h"
#include "results/ingest/b3_89/events.h"
#include "results/store/when.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_test(const struct b3_event *x, const struct b3_event *y)
{
    int order = strcmp(x->variant, y->variant);
    if (order != 0)
        return order;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

static int by_test_and_time(const void *a, const void *b)
{
    const struct b3_event *x = a, *y = b;
    int order = by_test(x, y);
    return order != 0 ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Merges the events of one test, in their order: the last start or end decides. A test that is skipped after
 * its end was found done by a later start of the executor. */
static struct b3_event fold(const struct b3_event *first, const struct b3_event *end)
{
    struct b3_event all = *first;
    for (const struct b3_event *e = first + 1; e < end; e++) {
        bool weaker = e->stage == B3_PLANNED || (e->stage == B3_SKIPPED && all.stage == B3_ENDED);
        if (weaker && all.stage != B3_PLANNED)
            continue;
        char started[sizeof all.started_at];
        snprintf(started, sizeof started, "%s", *e->started_at ? e->started_at : all.started_at);
        double timeout = isnan(e->timeout_s) ? all.timeout_s : e->timeout_s;
        all = *e;
        all.timeout_s = timeout;
        snprintf(all.started_at, sizeof all.started_at, "%s", started);
    }
    return all;
}

/* The exit code tells how a test ended: timeout(1) exits with 124, a shell with 128 plus the signal. */
static void judge_exit(struct b3_event *t)
{
    if (t->status != STATUS_FAIL || t->exit_code == RUN_UNKNOWN)
        return;
    bool late = t->timeout_s > 0 && t->value[METRIC_WALL_S] >= t->timeout_s;
    if (t->exit_code == 124 || (t->exit_code == 137 && late)) {
        t->status = STATUS_TIMEOUT;
        snprintf(t->reason, sizeof t->reason, "exit code %d: stopped at its time limit", t->exit_code);
    } else if (t->exit_code > 128 && t->exit_code <= 128 + 64) {
        t->status = STATUS_CRASH;
        t->signal = t->exit_code - 128;
        snprintf(t->reason, sizeof t->reason, "exit code %d: killed by signal %d%s", t->exit_code, t->signal,
                 t->signal == SIGKILL ? ", as the out-of-memory killer does" : "");
    } else if (t->exit_code == 0) {
        t->status = STATUS_INVALID;
        snprintf(t->reason, sizeof t->reason, "exited with 0, but its executor found no valid timings");
    } else
        snprintf(t->reason, sizeof t->reason, "exit code %d", t->exit_code);
}

static struct run_test *find_test(struct draft *d, size_t n_tests, const struct b3_event *e)
{
    for (size_t i = 0; i < n_tests; i++) {
        struct run_test *t = &d->tests[i].t;
        if (t->context == e->context && t->repetition == e->repetition &&
            strcmp(d->variants[t->variant].name, e->variant) == 0)
            return t;
    }
    return NULL;
}

/* Adds what the artifact does not say. Its status stays, unless it says only that the test failed. */
static void complete_test(struct run_test *t, const struct b3_event *e)
{
    if (!*t->started_at)
        snprintf(t->started_at, sizeof t->started_at, "%s", e->started_at);
    if (isnan(t->timeout_s) && e->timeout_s > 0)
        t->timeout_s = e->timeout_s;
    if (e->stage != B3_ENDED || (t->status == STATUS_OK) != (e->status == STATUS_OK))
        return;
    t->exit_code = e->exit_code;
    t->signal = e->signal;
    if (t->status == STATUS_FAIL) {
        t->status = e->status;
        if (!*t->reason)
            t->reason = word(e->reason);
    }
}

static const char *fault_reason(const struct b3_fault *f)
{
    return f->status == STATUS_BUILD_FAILED ? "the build failed" : "the gate failed";
}

static const struct b3_fault *fault_of(const struct b3_events *e, const char *variant)
{
    for (size_t i = 0; i < e->n_faults; i++)
        if (e->faults[i].status != STATUS_OK && strcmp(e->faults[i].variant, variant) == 0)
            return &e->faults[i];
    return NULL;
}

static struct run_variant *variant_of(struct draft *d, const char *name, size_t *index, struct err *err)
{
    *index = draft_variant(d, name);
    return *index < d->n_variants ? &d->variants[*index] : draft_add_variant(d, name, err);
}

static int add_test(struct draft *d, const struct b3_event *e, struct err *err)
{
    size_t variant;
    struct draft_test *t = variant_of(d, e->variant, &variant, err) ? draft_add_test(d, err) : NULL;
    if (!t)
        return -1;
    t->t.variant = variant;
    t->t.context = e->context;
    t->t.repetition = e->repetition;
    t->t.status = e->status;
    t->t.exit_code = e->exit_code;
    t->t.signal = e->signal;
    if (e->timeout_s > 0)
        t->t.timeout_s = e->timeout_s;
    if (e->status == STATUS_OK || e->stage == B3_ENDED)
        memcpy(t->t.value, e->value, sizeof t->t.value);
    snprintf(t->t.attn_impl, sizeof t->t.attn_impl, "%s", e->attn_impl);
    snprintf(t->t.started_at, sizeof t->t.started_at, "%s", e->started_at);
    t->t.reason = word(e->reason);
    return 0;
}

/* Adds a test without an artifact. *lost counts those of which the log does not know the outcome. */
static int add_unmeasured(struct draft *d, const struct b3_events *events, struct b3_event *e, int *lost,
                          struct err *err)
{
    const struct b3_fault *fault = fault_of(events, e->variant);
    if (e->stage == B3_STARTED) {
        ++*lost;
        e->status = STATUS_INTERRUPTED;
        snprintf(e->reason, sizeof e->reason, "started, and the log has no end of it");
    } else if (e->stage == B3_PLANNED && !fault) {
        ++*lost;
        draft_add_unmeasured(d, e->variant, e->context);
        return 0;
    } else if (e->stage == B3_PLANNED) {
        e->status = STATUS_SKIPPED;
        e->exit_code = e->signal = RUN_UNKNOWN;
        e->timeout_s = NAN;
        snprintf(e->reason, sizeof e->reason, "%s", fault_reason(fault));
    }
    return add_test(d, e, err);
}

static int apply_tests(struct b3_events *e, struct draft *d, int *lost, struct err *err)
{
    size_t artifacts = d->n_tests;
    if (e->count)
        qsort(e->items, e->count, sizeof *e->items, by_test_and_time);
    for (size_t i = 0, next; i < e->count; i = next) {
        next = i + 1;
        while (next < e->count && by_test(&e->items[i], &e->items[next]) == 0)
            next++;
        struct b3_event all = fold(&e->items[i], &e->items[next]);
        judge_exit(&all);
        struct run_test *t = find_test(d, artifacts, &all);
        if (t)
            complete_test(t, &all);
        else if (add_unmeasured(d, e, &all, lost, err) != 0)
            return -1;
    }
    return 0;
}

static int apply_faults(const struct b3_events *e, struct draft *d, struct err *err)
{
    for (size_t i = 0; i < e->n_faults; i++) {
        const struct b3_fault *f = &e->faults[i];
        size_t index;
        if (f->status == STATUS_OK)
            continue;
        struct run_variant *v = variant_of(d, f->variant, &index, err);
        if (!v)
            return -1;
        v->status = f->status;
        snprintf(v->reason, sizeof v->reason, "%s", fault_reason(f));
    }
    return 0;
}

static void apply_times(const struct b3_events *e, struct run_info *r)
{
    when_format(e->started, r->started_at);
    when_format(e->ended, r->ended_at);
    if (e->started != WHEN_UNKNOWN && e->ended >= e->started)
        r->wall_s = (double)(e->ended - e->started) / 1e3;
    if (e->begun && !e->closed)
        r->status = RUN_PARTIAL;
}

int b3_events_apply(struct b3_events *e, struct draft *d, struct err *err)
{
    int lost = 0;
    if (apply_tests(e, d, &lost, err) != 0 || apply_faults(e, d, err) != 0)
        return -1;
    apply_times(e, &d->info);
    if ((size_t)e->total > d->n_tests && lost < e->total - (int)d->n_tests)
        lost = e->total - (int)d->n_tests;
    if (lost) {
        d->info.status = RUN_PARTIAL;
        draft_warn(d, "%d of the tests that the log counts have no result: stored as PARTIAL", lost);
    }
    if (e->odd)
        draft_warn(d, "%d invalid events in the log were ignored", e->odd);
    return 0;
}
