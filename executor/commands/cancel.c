#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/bundle/job.h"
#include "executor/bundle/manifest.h"
#include "executor/run/supervise.h"
#include "executor/scheduler/scheduler.h"
#include "executor/workdir/lock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

static const double limit_s = 60; /* grace period, cleaning up, closing */
static const double queue_limit_s = 20;

/* Tells the supervisor that SIGTERM means cancelling, not that the node is shutting down. */
static int mark_cancelled(const struct layout *l, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX];
    if (layout_run_file(l, path, run_id, RUN_CANCEL, err) != 0)
        return -1;
    return fs_write_file(path, "", 0, 0600, err);
}

static int stop_supervisor(const struct lock_holder *holder, struct err *err)
{
    int fd = lock_holder_pidfd(holder);
    if (fd < 0)
        return err_set(err, ERR_NODE, "the run is locked by a process that cannot be found; try again");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t deadline_ns = clock_deadline_ns(limit_s);
    int n = pidfd_send_signal(fd, SIGTERM, NULL, 0) == 0 ? 0 : -1, saved = errno;
    pidfd_send_signal(fd, SIGCONT, NULL, 0); /* a stopped process handles no signal */
    while (n == 0 || (n < 0 && errno == EINTR)) {
        if (clock_left_ms(deadline_ns) == 0)
            break;
        n = poll(&p, 1, clock_left_ms(deadline_ns));
    }
    close(fd);
    if (n < 0)
        return err_set_errno(err, ERR_NODE, saved, "cannot signal the supervisor (pid %ld)",
                             (long)holder->pid);
    return n > 0 ? 0
                 : err_set(err, ERR_NODE, "the supervisor (pid %ld) did not end within %g s",
                           (long)holder->pid, limit_s);
}

static int close_dead_run(const struct layout *l, const char *run_id, struct lock *lock, struct err *err)
{
    if (lock_describe(lock, run_id, err) != 0)
        return -1;
    return supervise(l, run_id, err);
}

/* Appends the ids of the jobs that may still run, each once. */
static void list_live(const struct task_list *list, struct buf *ids)
{
    int64_t last = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (task_state_is_final(list->item[i].state) || list->item[i].job == last)
            continue;
        last = list->item[i].job;
        buf_printf(ids, " %lld", (long long)last);
    }
}

/* Asks until no job of the run is left, as ended jobs take a moment to leave the queue. */
static int wait_for_queue(struct loop *loop, const struct scheduler_ops *ops, const char *run_id,
                          struct err *err)
{
    AUTO(buf_release) struct buf ids = {.max = ERR_MSG_MAX / 2};
    struct err why = {.kind = ERR_NONE};
    char name[LIMIT_NAME + 16];
    int rc = 0;
    int64_t deadline_ns = clock_deadline_ns(queue_limit_s);
    snprintf(name, sizeof name, SCHEDULER_RUN_NAME, run_id);
    do {
        AUTO(task_list_release) struct task_list list = {.item = NULL};
        bool reachable;
        buf_clear(&ids);
        rc = ops->poll(loop, name, &list, &reachable, &why);
        list_live(&list, &ids);
    } while ((rc != 0 || ids.len > 0) && clock_left_ms(deadline_ns) > 0 && !loop->stop &&
             loop_wait_for(loop, NULL, clock_deadline_ns(1), &why) == 0);
    if (rc != 0)
        return err_set(err, ERR_NODE, "the run is closed, but %s does not say whether its jobs are gone: %s",
                       ops->title, why.msg);
    if (ids.len > 0)
        return err_set(err, ERR_NODE,
                       "the run is closed, but jobs of it are still in %s's queue: run there: %s%s",
                       ops->title, ops->cancel_command, buf_str(&ids));
    return 0;
}

/* A scheduler that was told to cancel jobs may not have done so. */
static int check_queue(const char *dir, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX];
    struct job job = {0};
    struct loop loop;
    if (fs_join(path, err, dir, RUN_JOB) != 0)
        return -1;
    json_t *root = json_load(path, LIMIT_PLAN_BYTES * 2, err);
    int rc = root ? job_init(&job, root, path, err) : -1;
    const struct scheduler_ops *ops = rc == 0 ? scheduler_for(&job.scheduler) : NULL;
    if (ops && ops->poll && (rc = loop_open(&loop, err)) == 0) {
        rc = wait_for_queue(&loop, ops, run_id, err);
        loop_close(&loop);
    }
    job_release(&job);
    return rc;
}

int cancel(const struct layout *layout, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX], dir[FS_PATH_MAX];
    struct lock lock = {.fd = -1};
    struct lock_holder holder;
    if (layout_run(layout, dir, run_id, err) != 0 || fs_join(path, err, dir, RUN_LOCK) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, layout->workdir);
    if (manifest_is_there(dir))
        return 0;
    if (mark_cancelled(layout, run_id, err) != 0 || lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try(&lock, err);
    if (rc == 1)
        rc = close_dead_run(layout, run_id, &lock, err);
    else if (rc == 0 && (rc = lock_look(path, &holder, err)) == 0)
        rc = stop_supervisor(&holder, err);
    lock_close(&lock);
    if (rc == 0 && !manifest_is_there(dir))
        return err_set(err, ERR_NODE, "%s: the run was not closed; see executor.log there", dir);
    return rc == 0 ? check_queue(dir, run_id, err) : rc;
}
