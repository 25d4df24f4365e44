#include "executor/node_lock.h"

#include "common/clock.h"

#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int tell_waiting(struct suite *s, const struct lock_holder *holder, struct err *err)
{
    char text[VERDICT_REASON_MAX];
    reason_set(text, "waiting up to %g s for the run %s (pid %ld) that uses this node", s->job.lock_wait_s,
               holder->what, (long)holder->pid);
    return journal_add(&s->journal, EVENT_NODE, json_pack("{s:s}", "message", text), err);
}

/* A child waits for the lock; this process waits for the child, a deadline, or a request to stop. */
static int wait_for(struct lock *lock, struct suite *s, struct err *err)
{
    struct loop_events events = {.now_ns = 0};
    pid_t pid = lock_wait_start(lock, err);
    int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
    int rc = pidfd >= 0 ? loop_watch(&s->loop, LOOP_PROCESS, pidfd, err) : -1;
    loop_arm(&s->loop, LOOP_DEADLINE, clock_mono_ns() + (int64_t)(s->job.lock_wait_s * 1e9), 0);
    while (rc == 0 && !events.ready[LOOP_PROCESS] && !events.ready[LOOP_DEADLINE] && !s->loop.stop)
        rc = loop_wait(&s->loop, &events, err);
    loop_arm(&s->loop, LOOP_DEADLINE, 0, 0);
    loop_unwatch(&s->loop, LOOP_PROCESS);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    if (pidfd >= 0)
        close(pidfd);
    return rc != 0 || s->loop.stop ? rc : lock_try(lock, err);
}

int node_lock_take(struct lock *lock, struct suite *s, char *reason, struct err *err)
{
    char path[FS_PATH_MAX];
    struct lock_holder holder = {.held = false};
    if (fs_join(path, err, s->layout->workdir, NODE_LOCK) != 0 || lock_open(lock, path, err) != 0)
        return -1;
    int taken = lock_try(lock, err);
    if (taken == 0 && lock_look(path, &holder, err) != 0)
        return -1;
    if (taken == 0 && s->job.lock_wait_s > 0)
        taken = tell_waiting(s, &holder, err) == 0 ? wait_for(lock, s, err) : -1;
    if (taken == 0)
        reason_set(reason, "the node is used by the run %s (pid %ld)%s", holder.what, (long)holder.pid,
                   s->job.lock_wait_s > 0 ? " for longer than lock_wait_s"
                                          : "; set lock_wait_s to wait for it");
    if (taken == 1 && lock_describe(lock, s->job.run_id, err) != 0)
        return -1;
    return taken;
}
