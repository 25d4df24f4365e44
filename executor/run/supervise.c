#include "executor/run/supervise.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/manifest.h"
#include "executor/node/facts.h"
#include "executor/node/leftover.h"
#include "executor/process/process.h"
#include "executor/run/build.h"
#include "executor/run/dispatch.h"
#include "executor/run/gate.h"
#include "executor/run/node_lock.h"
#include "executor/run/patched.h"
#include "executor/run/perf.h"
#include "executor/run/resources.h"
#include "executor/run/suite.h"
#include "executor/run/summary.h"
#include "executor/run/test.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const double leftover_limit_s = 10;

static int tell_node(struct suite *s, const char *message, struct err *err)
{
    return journal_add(&s->journal, EVENT_NODE, json_pack("{s:s}", "message", message), err);
}

static int start_event(struct suite *s, struct err *err)
{
    json_t *variants = json_array(), *contexts = json_object();
    for (size_t i = 0; i < s->job.variant_count; i++)
        json_array_append_new(variants, json_string(s->job.variant[i].name));
    for (size_t i = 0; i < s->job.test_count; i++) { /* an object, to have each once */
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)s->job.test[i].context);
        json_object_set_new(contexts, key, json_integer(s->job.test[i].context));
    }
    json_t *list = json_array(), *value;
    const char *key;
    json_object_foreach(contexts, key, value) json_array_append(list, value);
    json_decref(contexts);
    return journal_add(&s->journal, EVENT_SUITE_START,
                       json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:s}", "run_id", s->job.run_id,
                                 "ticket", s->job.settings.ticket, "tag", s->job.settings.tag, "mode",
                                 s->job.settings.mode, "total_tests", (json_int_t)s->job.test_count,
                                 "variants", variants, "contexts", list, "started_at", s->started_at),
                       err);
}

static int end_event(struct suite *s, enum run_status status, const char *reason, double wall_s,
                     struct err *err)
{
    struct summary_counts c = summary_count(s);
    return journal_add(&s->journal, EVENT_SUITE_END,
                       json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "status", run_status_name(status),
                                 "reason", reason, "total", (json_int_t)c.total, "ok", (json_int_t)c.ok,
                                 "failed", (json_int_t)c.failed, "skipped", (json_int_t)c.skipped, "wall_s",
                                 artifact_number(wall_s)),
                       err);
}

/* Before the manifest: from then on others pack the folder, and may not find it changing. */
static int seal(struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    return fs_join(path, err, s->dir, RUN_ORDERS) != 0 || fs_remove_tree(path, err) != 0
               ? -1
               : manifest_write(s->dir, s->job.run_id, err);
}

static int forget_private(struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, s->dir, RUN_JOB_PRIVATE) != 0)
        return -1;
    unlink(path);
    if (fs_join(path, err, s->dir, RUN_RESERVE) != 0)
        return -1;
    unlink(path);
    return 0;
}

static int close_run(struct suite *s, enum run_status status, const char *reason, struct err *err)
{
    double wall_s = (double)(clock_mono_ns() - s->start_ns) * 1e-9;
    if (summary_write(s, status, reason, wall_s, err) != 0 ||
        end_event(s, status, reason, wall_s, err) != 0 || journal_sync(&s->journal, err) != 0 ||
        seal(s, err) != 0)
        return err_wrap(err, "closing the run");
    return forget_private(s, err);
}

/* Node facts, in node.json and as an event. */
static int look_at_node(struct suite *s, struct err *err)
{
    s->node = node_probe(s->layout, &s->loop, &s->nvml, s->job.settings.model, err);
    if (s->node && s->job.preflight && !s->job.part.on) /* it is of where the run was submitted */
        json_object_set(s->node, "preflight", (json_t *)(uintptr_t)s->job.preflight);
    if (s->node && *s->job.part.host)
        json_object_set_new(s->node, "host", json_string(s->job.part.host));
    if (!s->node || artifact_json(s->dir, RUN_NODE, json_incref(s->node), &s->secrets, err) != 0)
        return -1;
    return journal_add(&s->journal, EVENT_NODE,
                       json_pack("{s:O, s:O, s:O}", "hostname", json_object_get(s->node, "hostname"), "gpus",
                                 json_object_get(s->node, "gpus"), "kernel",
                                 json_object_get(s->node, "kernel")),
                       err);
}

static int clear_leftovers(struct suite *s, struct err *err)
{
    size_t left, count = leftover_kill(s->layout, leftover_limit_s, &left);
    char text[VERDICT_REASON_MAX];
    if (count == 0)
        return 0;
    reason_set(text, "killed %zu processes that an earlier run left on the node%s", count - left,
               left > 0 ? "; some outlive SIGKILL: reboot the node" : "");
    if (left > 0)
        reason_set(s->dirty,
                   "the node is dirty: processes of an earlier run outlive SIGKILL; reboot the node");
    return tell_node(s, text, err);
}

/* What an earlier supervisor left: results that are there, and a test that it did not end. */
static int take_over(struct suite *s, struct err *err)
{
    char dir[FS_PATH_MAX];
    for (size_t i = 0; i < s->job.test_count; i++) {
        struct test_state *t = &s->test[i];
        if (suite_test_dir(s, i, dir, err) != 0)
            return -1;
        if (perf_load(s, i, dir)) {
            if (!t->ended && test_end_event(s, i, false, err) != 0)
                return -1;
        } else if (t->in_flight && !s->job.scheduler.on) { /* behind a scheduler it goes on */
            t->status = STATUS_INTERRUPTED;
            t->wall_s = NAN;
            t->in_flight = false;
            if (test_end_event(s, i, t->attempts < ATTEMPTS_MAX, err) != 0)
                return -1;
        }
    }
    return tell_node(s, "resumed after the executor's end", err);
}

static int prepare_variants(struct suite *s, struct err *err)
{
    const struct job_part *part = &s->job.part;
    if (part->on && *part->build && build_use(s, part->variant, part->build, err) != 0)
        return -1;
    if (part->on && !part->prepare)
        return 0;
    if (part->on && *part->build && resources_take(s, part->variant, err) != 0) /* gates ask for them */
        return -1;
    for (size_t i = 0; i < s->job.variant_count && !s->loop.stop; i++) {
        if (part->on && (*part->build || i != part->variant))
            continue;
        if (build_variant(s, i, err) != 0)
            return err_wrap(err, "building %s", s->job.variant[i].name);
    }
    for (size_t i = 0; i < s->job.variant_count && !s->loop.stop; i++) {
        if (part->on && i != part->variant)
            continue;
        if (gate_variant(s, i, err) != 0)
            return err_wrap(err, "gates of %s", s->job.variant[i].name);
    }
    return 0;
}

/* True, with *why, for a test that shall not run. */
static bool must_skip(const struct suite *s, size_t test, struct verdict *why)
{
    const struct variant_state *v = &s->variant[s->job.test[test].variant];
    why->status = STATUS_SKIPPED;
    if (s->test[test].attempts >= ATTEMPTS_MAX) {
        why->status = STATUS_INTERRUPTED;
        reason_set(why->reason, "the executor died in each of %u attempts", s->test[test].attempts);
        return true;
    }
    if (s->dirty[0]) {
        reason_set(why->reason, "%s", s->dirty);
        return true;
    }
    if (v->status != STATUS_OK) {
        reason_set(why->reason, "%s: %s", status_name(v->status), v->reason);
        return true;
    }
    return false;
}

/* A node that was taken for dead shall not go on measuring beside the one that took its place. */
static bool is_given_up(const struct suite *s)
{
    return s->job.part.on && fs_exists(s->job.part.fence);
}

static int run_tests(struct suite *s, struct err *err)
{
    bool told = false;
    for (size_t i = 0; i < s->job.test_count && !s->loop.stop; i++) {
        struct verdict why;
        if (s->test[i].final || s->job.test[i].elsewhere)
            continue;
        if (is_given_up(s))
            return err_set(err, ERR_INTERRUPTED, "nobody waits for this attempt any more");
        int rc = must_skip(s, i, &why) ? test_skip(s, i, &why, err) : test_run(s, i, err);
        if (rc == 0 && s->dirty[0] && !told) {
            rc = tell_node(s, s->dirty, err);
            told = true;
        }
        if (rc != 0)
            return -1;
    }
    return 0;
}

/* Everything was done, or a signal came. */
static int end_work(struct suite *s, struct err *err)
{
    if (!s->loop.stop)
        return close_run(s, RUN_COMPLETE, "", err);
    if (suite_cancelled(s))
        return close_run(s, RUN_CANCELLED, "cancelled by the user", err);
    if (s->job.part.on)
        return err_set(err, ERR_INTERRUPTED,
                       "the scheduler told it to end: its time limit is near, or another job goes first");
    return err_set(err, ERR_INTERRUPTED, "told to end; submit the run again to go on with it");
}

static int work(struct suite *s, struct err *err)
{
    char reason[VERDICT_REASON_MAX];
    if (clear_leftovers(s, err) != 0)
        return -1;
    if (look_at_node(s, err) != 0)
        return -1;
    int patched = patched_prepare(s, reason, err);
    if (patched < 0)
        return -1;
    if (patched == 0)
        return close_run(s, RUN_BLOCKED, reason, err);
    if (prepare_variants(s, err) != 0 || run_tests(s, err) != 0)
        return -1;
    return end_work(s, err);
}

/* One part of a run: the scheduler sees to it that it has what it uses of the node. */
static int work_part(struct suite *s, struct err *err)
{
    char reason[VERDICT_REASON_MAX];
    if (look_at_node(s, err) != 0)
        return -1;
    int patched = patched_prepare(s, reason, err);
    if (patched <= 0)
        return patched < 0 ? -1 : close_run(s, RUN_BLOCKED, reason, err);
    if (prepare_variants(s, err) != 0 || run_tests(s, err) != 0)
        return -1;
    return end_work(s, err);
}

/* What this machine does itself of a run that goes to a scheduler, with the node's lock. */
static int prepare_here(struct suite *s, struct node_lock *node_lock, char *reason, struct err *err)
{
    bool needed = s->job.scheduler.build == BUILD_LOGIN;
    for (size_t i = 0; i < s->job.variant_count; i++)
        needed |= s->job.variant[i].patch_count > 0;
    int rc = needed ? node_lock_take(node_lock, s, reason, err) : 1;
    if (rc == 1)
        rc = patched_prepare(s, reason, err);
    for (size_t i = 0; rc == 1 && i < s->job.variant_count && !s->loop.stop; i++)
        if ((s->job.scheduler.build == BUILD_LOGIN || s->job.variant[i].build_count == 0) &&
            build_variant(s, i, err) != 0)
            rc = err_wrap(err, "building %s", s->job.variant[i].name);
    node_lock_close(node_lock);
    return rc;
}

static int work_scheduled(struct suite *s, struct node_lock *node_lock, struct err *err)
{
    char reason[VERDICT_REASON_MAX] = "";
    if (suite_cancelled(s))
        return dispatch_cancel(s, err) != 0 ? -1 : close_run(s, RUN_CANCELLED, "cancelled by the user", err);
    if (look_at_node(s, err) != 0)
        return -1;
    int rc = prepare_here(s, node_lock, reason, err);
    if (rc == 1 && !s->loop.stop)
        rc = dispatch_run(s, reason, err);
    if (rc < 0)
        return -1;
    return rc == 0 && !s->loop.stop ? close_run(s, RUN_BLOCKED, reason, err) : end_work(s, err);
}

static int run(struct suite *s, struct node_lock *node_lock, struct err *err)
{
    char reason[VERDICT_REASON_MAX] = "";
    if (s->closed) /* it died between its last event and the manifest */
        return seal(s, err) != 0 ? -1 : forget_private(s, err);
    if (!s->started && start_event(s, err) != 0)
        return -1;
    if (s->resumed && take_over(s, err) != 0)
        return -1;
    if (s->job.part.on)
        return work_part(s, err);
    if (s->job.scheduler.on)
        return work_scheduled(s, node_lock, err);
    if (suite_cancelled(s))
        return close_run(s, RUN_CANCELLED, "cancelled by the user", err);
    int taken = node_lock_take(node_lock, s, reason, err);
    if (taken < 0)
        return -1;
    if (taken == 1)
        return work(s, err);
    if (!s->loop.stop)
        return close_run(s, RUN_BLOCKED, reason, err);
    return suite_cancelled(s)
               ? close_run(s, RUN_CANCELLED, "cancelled by the user", err)
               : err_set(err, ERR_INTERRUPTED, "told to end; submit the run again to go on with it");
}

int supervise(const struct layout *layout, const char *run_id, struct err *err)
{
    struct suite s;
    struct node_lock node_lock;
    node_lock_init(&node_lock);
    if (suite_open(&s, layout, run_id, err) != 0)
        return -1;
    int rc = process_become_subreaper(err) != 0 ? -1 : run(&s, &node_lock, err);
    if (rc != 0 && err->kind == ERR_INTERNAL) {
        struct err again;
        char reason[VERDICT_REASON_MAX];
        reason_set(reason, "%s", err->msg);
        close_run(&s, RUN_PARTIAL, reason, &again);
    }
    node_lock_close(&node_lock);
    suite_release(&s);
    return rc;
}
