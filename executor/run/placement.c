#include "executor/run/placement.h"

#include "common/base/text.h"
#include "executor/bundle/artifact.h"
#include "executor/node/facts.h"
#include "executor/node/leftover.h"
#include "executor/prepare/carry.h"
#include "executor/prepare/prepare.h"
#include "executor/prepare/untouched.h"
#include "executor/process/remains.h"
#include "executor/run/gpu_idle.h"
#include "executor/run/run_clocks.h"
#include "executor/run/run_lanes.h"
#include "executor/scheduler/dispatch.h"
#include "executor/scheduler/scheduler.h"
#include "executor/suite/container.h"
#include "executor/suite/test_group.h"

static const double leftover_limit_s = 10;

/* Opens one lane for each group of GPUs that the run has. Gates run on the first lane. */
static void open_lanes(struct suite *s)
{
    const struct gpu_use none = {.count = 0};
    const struct gpu_choice *c = &s->gpus;
    if (c->count == 0)
        lanes_open(&s->lanes, s, &none, 1, false);
    else
        lanes_open(&s->lanes, s, c->group, c->count, c->choose);
}

/* Said once, for the first such GPU: the driver is the same for all. */
static int tell_unread_metrics(struct suite *s, struct err *err)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(json_object_get(s->node, "gpus"), i, gpu)
    {
        const char *unread = json_string_value(json_object_get(gpu, "metrics_unread"));
        if (unread)
            return suite_note(
                s, err,
                "gpu_metrics %s of GPU %zu is not known, so clocks, throttling and energy may be "
                "missing: update kernsweep",
                unread, i);
    }
    return 0;
}

/* Records the node's facts in node.json and as an event. */
static int record_node(struct suite *s, struct err *err)
{
    json_t *node = s->node = node_probe(s->layout, &s->loop, &s->nvml, s->job.settings.model, err);
    if (!node)
        return -1;
    if (s->job.preflight && !s->job.part.on) /* a part's is the submitting machine's */
        json_object_set(node, "preflight", (json_t *)(uintptr_t)s->job.preflight);
    if (*s->job.part.host)
        json_object_set_new(node, "host", json_string(s->job.part.host));
    if (s->clock.held.count > 0)
        json_object_set_new(node, "clocks",
                            json_pack("{s:s, s:i}", "mode", clocks_mode_names[s->clock.held.want.mode], "mhz",
                                      s->clock.held.want.mhz));
    if (artifact_json(s->dir, RUN_NODE, json_incref(node), &s->secrets, err) != 0)
        return -1;
    if (journal_add(&s->journal, EVENT_NODE,
                    json_pack("{s:O, s:O, s:O}", "hostname", json_object_get(node, "hostname"), "gpus",
                              json_object_get(node, "gpus"), "kernel", json_object_get(node, "kernel")),
                    err) != 0)
        return -1;
    return tell_unread_metrics(s, err);
}

static int clear_containers(struct suite *s, struct err *err)
{
    size_t left, count = container_clear(s, &left);
    if (count == 0 && left == 0)
        return 0;
    if (left > 0)
        reason_set(s->dirty, "the node is dirty: containers of an earlier run cannot be removed; see `podman "
                             "ps --all` or `docker ps --all`");
    return suite_note(s, err, "removed %zu container%s left behind by killed executors%s", count,
                      text_plural((long long)count),
                      left > 0 ? "; others could not be removed: see `podman ps --all` or `docker ps --all`"
                               : "");
}

/* Clearing the control groups of killed executors also ends processes that hid their environment. */
static int clear_groups(struct suite *s, struct err *err)
{
    size_t left, count = remains_clear(s->layout, leftover_limit_s, &left);
    char who[64] = "a killed executor";
    if (count == 0)
        return 0;
    if (count > 1)
        snprintf(who, sizeof who, "%zu killed executors", count);
    if (left > 0)
        reason_set(s->dirty,
                   "the node is dirty: processes of an earlier run survived SIGKILL; reboot the node");
    return suite_note(s, err, "ended the control groups left behind by %s%s", who,
                      left > 0 ? "; some processes in them survive: reboot the node" : "");
}

static int clear_leftovers(struct suite *s, struct err *err)
{
    size_t left, count = leftover_kill(s->layout, leftover_limit_s, &left);
    if (count == 0)
        return 0;
    if (left > 0)
        reason_set(s->dirty,
                   "the node is dirty: processes of an earlier run survived SIGKILL; reboot the node");
    return suite_note(s, err, "killed %zu process%s left on the node by an earlier run%s", count - left,
                      count - left == 1 ? "" : "es",
                      left > 0 ? "; some survived SIGKILL: reboot the node" : "");
}

/* A part that was given a build makes none, and no part builds another's variant. */
static bool part_builds(const struct job_part *part, size_t variant)
{
    return !part->on || (!*part->build && variant == part->variant);
}

static int use_part_build(struct suite *s, struct err *err)
{
    const struct job_part *part = &s->job.part;
    if (!part->on || !*part->build)
        return 0;
    if (build_variant_use(s, part->variant, part->build, err) != 0)
        return -1;
    return part->prepare ? kernel_usage_take(s, part->variant, err) : 0; /* for the gates */
}

static int prepare_variants(struct suite *s, struct err *err)
{
    const struct job_part *part = &s->job.part;
    if (part->on && !part_builds(part, part->variant))
        container_resolve(s, part->variant);
    if (use_part_build(s, err) != 0)
        return -1;
    if (part->on && !part->prepare)
        return 0;
    for (size_t i = 0; i < s->job.variant_count && !s->loop.stop; i++) {
        if (part_builds(part, i) && build_variant(s, i, err) != 0)
            return err_wrap(err, "building %s", s->job.variant[i].name);
    }
    for (size_t i = 0; i < s->job.variant_count && !s->loop.stop && !s->job.compile_only; i++) {
        if ((!part->on || i == part->variant) && gate_variant(s, i, err) != 0)
            return err_wrap(err, "gates of %s", s->job.variant[i].name);
    }
    return untouched_prepared(s, err);
}

static int prepare_sources(struct suite *s, char *reason, struct err *err)
{
    int rc = sources_check(s, reason, err);
    if (rc == 1)
        rc = patched_prepare(s, reason, err);
    return rc == 1 && sources_share(s, err) != 0 ? -1 : rc;
}

static int run_here(struct suite *s, char *reason, struct err *err)
{
    if (record_node(s, err) != 0)
        return -1;
    int rc = test_group_begin_run(s, reason, err);
    if (rc == 1)
        rc = prepare_sources(s, reason, err);
    if (rc != 1)
        return rc;
    open_lanes(s);
    return prepare_variants(s, err) != 0 || carry_cells(s, err) != 0 || run_lanes(s, err) != 0 ? -1 : 1;
}

static int run_on_node(struct suite *s, struct node_lock *lock, char *reason, struct err *err)
{
    int taken = node_lock_take(lock, s, scheduler_here()->granted, reason, err);
    if (taken != 1)
        return taken;
    if (clear_containers(s, err) != 0 || clear_groups(s, err) != 0 || clear_leftovers(s, err) != 0)
        return -1;
    int rc = gpu_idle_await(s, reason, err);
    if (rc != 1)
        return rc;
    rc = run_clocks_take(s, lock, reason, err);
    if (rc == 1)
        rc = run_here(s, reason, err);
    return run_clocks_end(s, rc, reason, err);
}

/* The scheduler has allocated what the task uses, so there is nothing to lock or to clean up. */
static int run_as_task(struct suite *s, struct node_lock *lock, char *reason, struct err *err)
{
    (void)lock;
    int chosen = node_lock_granted(s, scheduler_here()->granted, reason, err);
    if (chosen == 0 &&
        suite_note(s, err, "%s", reason) != 0) /* the submitter sees what a task says, not how it ends */
        return -1;
    return chosen == 1 ? run_here(s, reason, err) : chosen;
}

/* Prepares sources and builds on the submitting machine, before jobs are submitted. The lock is needed only
 * where that changes something that other runs use. */
static int prepare_submission(struct suite *s, struct node_lock *lock, char *reason, struct err *err)
{
    bool login = s->job.scheduler.build == BUILD_LOGIN, needs_lock = login;
    for (size_t i = 0; i < s->job.variant_count; i++)
        needs_lock |= s->job.variant[i].patch_count > 0 || s->job.variant[i].in_tree;
    int rc = needs_lock ? node_lock_take(lock, s, scheduler_here()->granted, reason, err) : 1;
    if (rc == 1)
        rc = prepare_sources(s, reason, err);
    for (size_t i = 0; rc == 1 && i < s->job.variant_count && !s->loop.stop; i++) {
        if ((login || s->job.variant[i].build_count == 0) && build_variant(s, i, err) != 0)
            rc = err_wrap(err, "building %s", s->job.variant[i].name);
    }
    node_lock_close(lock);
    return rc;
}

static int run_through_scheduler(struct suite *s, struct node_lock *lock, char *reason, struct err *err)
{
    if (record_node(s, err) != 0)
        return -1;
    int rc = prepare_submission(s, lock, reason, err);
    return rc == 1 && !s->loop.stop ? dispatch_run(s, reason, err) : rc;
}

static int cancel_nothing(struct suite *s, struct err *err)
{
    (void)s;
    (void)err;
    return 0;
}

/* Ends what a killed supervisor left. A run that has the node's lock has done so. */
static int cancel_on_node(struct suite *s, struct err *err)
{
    struct lock lock = {.fd = -1};
    char path[FS_PATH_MAX];
    if (fs_join(path, err, s->layout->workdir, NODE_LOCK) != 0 || lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try_after(&lock, path, s->job.run_id, err);
    if (rc == 1 && (lock_describe(&lock, s->job.run_id, err) != 0 || clear_containers(s, err) != 0 ||
                    clear_groups(s, err) != 0 || clear_leftovers(s, err) != 0))
        rc = -1;
    lock_close(&lock);
    return rc < 0 ? -1 : run_clocks_recover(s, err);
}

static const struct placement on_node = {.run = run_on_node, .cancel = cancel_on_node};
static const struct placement as_task = {.run = run_as_task, .cancel = cancel_nothing};
static const struct placement through_scheduler = {
    .outlives_supervisor = true, .run = run_through_scheduler, .cancel = dispatch_cancel};

const struct placement *placement_of(const struct job *job)
{
    if (job->part.on)
        return &as_task;
    return scheduler_for(&job->scheduler)->submit ? &through_scheduler : &on_node;
}
