#include "executor/suite/node_lock.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/node/facts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A lock to take, and what messages call it. */
struct lock_request {
    struct lock *lock;
    const char *path;
    const char *what; /* "this node", "GPU 1d0f..." */
    double wait_s;
    int64_t until_ns;
};

static int tell_waiting(struct suite *s, const struct lock_request *w, const struct lock_holder *holder,
                        struct err *err)
{
    return suite_note(s, err, "waiting up to %g s for the run %s (pid %ld), which uses %s", w->wait_s,
                      holder->what, (long)holder->pid, w->what);
}

/* A child blocks on the lock; this process waits for the child, a deadline, or a request to stop. */
static int wait_for(const struct lock_request *w, struct suite *s, struct err *err)
{
    struct loop_watch child = LOOP_WATCH_NONE;
    pid_t pid = lock_wait_start(w->lock, err);
    AUTO_CLOSE int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
    int rc = pidfd >= 0 ? loop_add(&s->loop, &child, pidfd, err) : -1;
    if (rc == 0)
        rc = loop_wait_for(&s->loop, &child, w->until_ns, err);
    loop_remove(&s->loop, &child);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return rc != 0 || s->loop.stop ? rc : lock_try(w->lock, err);
}

/* A supervisor has the lock of its run before any other, so a killed one, which may be of this run, is told
 * by the run's lock that is free already. */
static bool is_dying(const struct suite *s, const struct lock_holder *holder)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    struct lock_holder of_run = {.held = false};
    if (strcmp(holder->what, s->job.run_id) == 0)
        return !s->job.part.on; /* another task of the run is alive */
    return layout_run(s->layout, dir, holder->what, NULL) == 0 && fs_join(path, NULL, dir, RUN_LOCK) == 0 &&
           fs_exists(path) && lock_look(path, &of_run, NULL) == 0 && !of_run.held;
}

static int take_lock(const struct lock_request *w, struct suite *s, char *reason, struct err *err)
{
    struct lock_holder holder = {.held = false};
    int taken = lock_try(w->lock, err);
    if (taken == 0 && lock_look(w->path, &holder, err) != 0)
        return -1;
    if (taken == 0 && holder.held && is_dying(s, &holder))
        taken = lock_try_after(w->lock, w->path, holder.what, err);
    if (taken == 0 && w->wait_s > 0)
        taken = tell_waiting(s, w, &holder, err) == 0 ? wait_for(w, s, err) : -1;
    if (taken == 0)
        reason_set(reason, "%s is used by the run %s (pid %ld)%s", w->what, holder.what, (long)holder.pid,
                   w->wait_s > 0 ? " and still was after lock_wait_s" : "; set lock_wait_s to wait for it");
    if (taken == 1 && lock_describe(w->lock, s->job.run_id, err) != 0)
        return -1;
    return taken;
}

/* wait_s 0: does not wait. */
static int take_gpu(struct node_lock *lock, struct suite *s, const char *name, double wait_s,
                    int64_t until_ns, char *reason, struct err *err)
{
    char path[FS_PATH_MAX], what[LIMIT_NAME + 8];
    struct lock *gpu = &lock->gpu[lock->gpu_count];
    struct err why;
    snprintf(what, sizeof what, "GPU %s", name);
    if (gpu_use_path(s->layout, name, path, err) != 0)
        return -1;
    if (lock_open_shared(gpu, path, &why) != 0) {
        lock->unlocked++;
        return suite_note(s, err, "%s cannot be locked against runs in other workdirs: %s", what, why.msg) ==
                       0
                   ? 1
                   : -1;
    }
    snprintf(lock->gpu_name[lock->gpu_count++], sizeof lock->gpu_name[0], "%s", name);
    const struct lock_request w = {
        .lock = gpu, .path = path, .what = what, .wait_s = wait_s, .until_ns = until_ns};
    return take_lock(&w, s, reason, err);
}

/* A GPU to lock, of a group that the run wants. */
struct wanted_gpu {
    const char *name;
    size_t group;
};

/* GPUs are locked in the order of their names, so that two runs never wait for each other. */
static int by_name(const void *a, const void *b)
{
    const struct wanted_gpu *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static size_t list_wanted(const struct gpu_choice *c, size_t first, size_t end, struct wanted_gpu *out)
{
    size_t n = 0;
    for (size_t g = first; g < end; g++)
        for (size_t i = 0; i < c->group[g].count && n < GPU_USE_MAX; i++)
            out[n++] = (struct wanted_gpu){.name = c->group[g].name[i], .group = g};
    qsort(out, n, sizeof *out, by_name);
    return n;
}

static void release_last(struct node_lock *lock)
{
    lock_close(&lock->gpu[--lock->gpu_count]);
}

/* Locks all GPUs of a group, or none. */
static int take_group(struct node_lock *lock, struct suite *s, size_t group, double wait_s, int64_t until_ns,
                      char *reason, struct err *err)
{
    struct wanted_gpu wanted[GPU_USE_MAX];
    size_t count = list_wanted(&s->gpus, group, group + 1, wanted), before = lock->gpu_count;
    int taken = 1;
    for (size_t i = 0; taken == 1 && i < count; i++)
        taken = take_gpu(lock, s, wanted[i].name, wait_s, until_ns, reason, err);
    while (taken != 1 && lock->gpu_count > before)
        release_last(lock);
    return taken;
}

static int take_every(struct node_lock *lock, struct suite *s, int64_t until_ns, char *reason,
                      struct err *err)
{
    struct wanted_gpu wanted[GPU_USE_MAX];
    size_t count = list_wanted(&s->gpus, 0, s->gpus.count, wanted);
    int taken = 1;
    for (size_t i = 0; taken == 1 && i < count; i++)
        taken = take_gpu(lock, s, wanted[i].name, s->job.settings.lock_wait_s, until_ns, reason, err);
    return taken;
}

/* Takes the first group that is free. If none is, the run waits for the one that it prefers. */
static int take_first(struct node_lock *lock, struct suite *s, int64_t until_ns, char *reason,
                      struct err *err)
{
    int taken = 0;
    size_t i = 0;
    for (; i < s->gpus.count && taken == 0; i += taken == 0)
        taken = take_group(lock, s, i, 0, 0, reason, err);
    if (taken == 0) {
        i = 0;
        taken = take_group(lock, s, i, s->job.settings.lock_wait_s, until_ns, reason, err);
    }
    if (taken != 1)
        return taken;
    while (s->gpus.count > i + 1)
        gpu_choice_drop(&s->gpus, s->gpus.count - 1);
    while (i-- > 0)
        gpu_choice_drop(&s->gpus, 0);
    return 1;
}

/* Why a group is left out; "" while it is not. */
struct left_out {
    char why[REASON_MAX];
};

static void release_gpu(struct node_lock *lock, const char *name)
{
    for (size_t i = 0; i < lock->gpu_count; i++) {
        if (strcmp(lock->gpu_name[i], name) != 0)
            continue;
        lock_close(&lock->gpu[i]);
        lock->gpu_count--;
        memmove(lock->gpu + i, lock->gpu + i + 1, (lock->gpu_count - i) * sizeof *lock->gpu);
        memmove(lock->gpu_name + i, lock->gpu_name + i + 1, (lock->gpu_count - i) * sizeof *lock->gpu_name);
        return;
    }
}

/* Takes the GPUs that are free, or become free in time; a group that lacks one keeps none. */
static int take_free(struct node_lock *lock, struct suite *s, int64_t until_ns, struct left_out *out,
                     struct err *err)
{
    struct wanted_gpu wanted[GPU_USE_MAX];
    size_t count = list_wanted(&s->gpus, 0, s->gpus.count, wanted);
    for (size_t i = 0; i < count; i++) {
        char why[REASON_MAX];
        if (out[wanted[i].group].why[0])
            continue;
        int taken = take_gpu(lock, s, wanted[i].name, s->job.settings.lock_wait_s, until_ns, why, err);
        if (taken < 0)
            return -1;
        if (taken == 1)
            continue;
        release_last(lock);
        snprintf(out[wanted[i].group].why, REASON_MAX, "%s", why);
        for (size_t k = 0; k < i; k++)
            if (wanted[k].group == wanted[i].group)
                release_gpu(lock, wanted[k].name);
    }
    return 0;
}

static int go_on_without(struct suite *s, size_t group, const char *why, struct err *err)
{
    gpu_choice_drop(&s->gpus, group);
    return suite_note(s, err, "continuing without a GPU: %s", why);
}

/* Takes the groups that are free, or become free in time, and goes on without the others. */
static int take_some(struct node_lock *lock, struct suite *s, int64_t until_ns, char *reason, struct err *err)
{
    size_t count = s->gpus.count, missing = 0;
    AUTO_FREE struct left_out *out = xcalloc(count, sizeof *out);
    if (take_free(lock, s, until_ns, out, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        missing += out[i].why[0] != '\0';
    if (missing == count) {
        snprintf(reason, REASON_MAX, "%s", out[0].why);
        return 0;
    }
    for (size_t i = count; i-- > 0;)
        if (out[i].why[0] && go_on_without(s, i, out[i].why, err) != 0)
            return -1;
    return 1;
}

static int take_gpus(struct node_lock *lock, struct suite *s, int64_t until_ns, char *reason, struct err *err)
{
    if (s->gpus.count == 0)
        return 1;
    switch (s->gpus.rule) {
    case GPU_RULE_EVERY:
        break;
    case GPU_RULE_SOME:
        return take_some(lock, s, until_ns, reason, err);
    case GPU_RULE_FIRST:
        return take_first(lock, s, until_ns, reason, err);
    }
    return take_every(lock, s, until_ns, reason, err);
}

static int tell_granted(struct suite *s, struct err *err)
{
    return suite_note(
        s, err, "Slurm gave this job %zu GPUs, and the plan's gres asks for %zu: the others are not used",
        s->gpus.granted, scheduler_gpus(&s->job.scheduler));
}

/* Returns 1, 0 with reason if the plan asks for what the node cannot give, or -1. */
static int choose_gpus(struct suite *s, gpu_granted *granted, bool *locks, char *reason, struct err *err)
{
    struct gpu_grant grant;
    struct err why;
    *locks = false;
    if (s->job.compile_only)
        return 1;
    json_auto_t *gpus = node_gpus(s->layout, &s->nvml);
    const char *vendor = json_string_value(json_object_get(json_array_get(gpus, 0), "vendor"));
    granted(&grant, vendor && strcmp(vendor, "amd") == 0);
    gpu_choice_release(&s->gpus);
    int rc = gpu_choice_make(&s->gpus, &s->job, gpus, &grant, &why);
    *locks = !grant.by_scheduler;
    if (rc == 0 && s->gpus.granted > 0 && tell_granted(s, err) != 0)
        return -1;
    if (rc == 0)
        return 1;
    if (why.kind != ERR_NODE)
        return err_set(err, why.kind, "%s", why.msg);
    reason_set(reason, "%s", why.msg);
    return 0;
}

int node_lock_granted(struct suite *s, gpu_granted *granted, char *reason, struct err *err)
{
    bool locks;
    return choose_gpus(s, granted, &locks, reason, err);
}

void node_lock_init(struct node_lock *lock)
{
    *lock = (struct node_lock){.workdir = {.fd = -1}};
}

void node_lock_close(struct node_lock *lock)
{
    for (size_t i = 0; i < lock->gpu_count; i++)
        lock_close(&lock->gpu[i]);
    lock_close(&lock->workdir);
    node_lock_init(lock);
}

int node_lock_take(struct node_lock *lock, struct suite *s, gpu_granted *granted, char *reason,
                   struct err *err)
{
    char path[FS_PATH_MAX];
    bool locks;
    int64_t until_ns = clock_mono_ns() + (int64_t)(s->job.settings.lock_wait_s * 1e9);
    const struct lock_request w = {.lock = &lock->workdir,
                                   .path = path,
                                   .what = "this node",
                                   .wait_s = s->job.settings.lock_wait_s,
                                   .until_ns = until_ns};
    if (fs_join(path, err, s->layout->workdir, NODE_LOCK) != 0 || lock_open(&lock->workdir, path, err) != 0)
        return -1;
    int taken = take_lock(&w, s, reason, err);
    if (taken != 1)
        return taken;
    taken = choose_gpus(s, granted, &locks, reason, err);
    return taken == 1 && locks ? take_gpus(lock, s, until_ns, reason, err) : taken;
}

int node_lock_build(struct lock *lock, struct suite *s, const char *key, char *reason, struct err *err)
{
    char path[FS_PATH_MAX], name[32];
    double wait_s = s->job.settings.build_timeout_s;
    const struct lock_request w = {.lock = lock,
                                   .path = path,
                                   .what = "this build's folder",
                                   .wait_s = wait_s,
                                   .until_ns = clock_mono_ns() + (int64_t)(wait_s * 1e9)};
    snprintf(name, sizeof name, "build.%.1s.lock", key);
    if (fs_join(path, err, s->layout->workdir, name) != 0 || lock_open(lock, path, err) != 0)
        return -1;
    return take_lock(&w, s, reason, err);
}
