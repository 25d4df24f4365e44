#include "executor/run/node_lock.h"

#include "common/base/clock.h"
#include "executor/node/facts.h"

#include <signal.h>
#include <stdio.h>
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
    char text[REASON_MAX];
    reason_set(text, "waiting up to %g s for the run %s (pid %ld), which uses %s", w->wait_s, holder->what,
               (long)holder->pid, w->what);
    return suite_note(s, text, err);
}

/* A child blocks on the lock; this process waits for the child, a deadline, or a request to stop. */
static int wait_for(const struct lock_request *w, struct suite *s, struct err *err)
{
    struct loop_watch child = LOOP_WATCH_NONE;
    pid_t pid = lock_wait_start(w->lock, err);
    int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
    int rc = pidfd >= 0 ? loop_add(&s->loop, &child, pidfd, err) : -1;
    if (rc == 0)
        rc = loop_wait_for(&s->loop, &child, w->until_ns, err);
    loop_remove(&s->loop, &child);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    if (pidfd >= 0)
        close(pidfd);
    return rc != 0 || s->loop.stop ? rc : lock_try(w->lock, err);
}

static int take_lock(const struct lock_request *w, struct suite *s, char *reason, struct err *err)
{
    struct lock_holder holder = {.held = false};
    int taken = lock_try(w->lock, err);
    if (taken == 0 && lock_look(w->path, &holder, err) != 0)
        return -1;
    if (taken == 0 && w->wait_s > 0)
        taken = tell_waiting(s, w, &holder, err) == 0 ? wait_for(w, s, err) : -1;
    if (taken == 0)
        reason_set(reason, "%s is used by the run %s (pid %ld)%s", w->what, holder.what, (long)holder.pid,
                   w->wait_s > 0 ? " and still was after lock_wait_s" : "; set lock_wait_s to wait for it");
    if (taken == 1 && lock_describe(w->lock, s->job.run_id, err) != 0)
        return -1;
    return taken;
}

static int take_gpu(struct node_lock *lock, struct suite *s, const char *name, int64_t until_ns, char *reason,
                    struct err *err)
{
    char path[FS_PATH_MAX], what[LIMIT_NAME + 8], text[REASON_MAX];
    struct lock *gpu = &lock->gpu[lock->gpu_count];
    struct err why;
    snprintf(what, sizeof what, "GPU %s", name);
    if (gpu_use_path(s->layout, name, path, err) != 0)
        return -1;
    if (lock_open_shared(gpu, path, &why) != 0) {
        lock->unlocked++;
        reason_set(text, "%s cannot be locked against runs in other workdirs: %s", what, why.msg);
        return suite_note(s, text, err) == 0 ? 1 : -1;
    }
    snprintf(lock->gpu_name[lock->gpu_count++], sizeof lock->gpu_name[0], "%s", name);
    const struct lock_request w = {
        .lock = gpu, .path = path, .what = what, .wait_s = s->job.settings.lock_wait_s, .until_ns = until_ns};
    return take_lock(&w, s, reason, err);
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

int node_lock_take(struct node_lock *lock, struct suite *s, char *reason, struct err *err)
{
    char path[FS_PATH_MAX];
    struct gpu_use use;
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
    json_t *gpus = node_gpus(s->layout, &s->nvml);
    scheduler_here()->gpus(&use, &s->job, gpus);
    json_decref(gpus);
    for (size_t i = 0; taken == 1 && i < use.count; i++)
        taken = take_gpu(lock, s, use.name[i], until_ns, reason, err);
    return taken;
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
