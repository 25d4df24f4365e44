#include "executor/commands/commands.h"

#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/commands/detach.h"
#include "executor/scheduler/array_job.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which attempt this process is. */
struct attempt {
    struct task_identity task;
    char id[ATTEMPT_ID_MAX];
    char run[FS_PATH_MAX];   /* the whole run's folder */
    char fence[FS_PATH_MAX]; /* of the task */
    char dir[FS_PATH_MAX];   /* the attempt's */
};

static int identify(struct attempt *a, const struct layout *l, const char *run_id, int array, struct err *err)
{
    if (scheduler_here()->identify(&a->task, err) != 0)
        return -1;
    long long index = a->task.index;
    snprintf(a->id, sizeof a->id, "%lld.%lld.%lld", index, (long long)a->task.job,
             (long long)a->task.restart);
    if (layout_run(l, a->run, run_id, err) != 0 ||
        array_job_path(a->run, a->fence, err, "%d/%lld.over", array, index) != 0)
        return -1;
    return array_job_path(a->run, a->dir, err, "%d/%s", array, a->id);
}

/* This task's part of the array job's file; the caller json_decref()s. */
static json_t *encode_part(const struct attempt *a, int array, struct err *err)
{
    char path[FS_PATH_MAX], cancel[FS_PATH_MAX];
    if (array_job_path(a->run, path, err, "%d.json", array) != 0 ||
        fs_join(cancel, err, a->run, RUN_CANCEL) != 0)
        return NULL;
    json_t *root = json_load(path, LIMIT_JSON_BYTES, err), *part = NULL;
    json_t *tests = json_array_get(json_object_get(root, "tasks"), (size_t)a->task.index - 1);
    if (root && !tests)
        err_set(err, ERR_INPUT, "%s: has no task %lld", path, (long long)a->task.index);
    else if (root)
        part = json_pack("{s:O, s:O, s:O, s:s, s:s, s:s, s:O}", "variant", json_object_get(root, "variant"),
                         "prepare", json_object_get(root, "prepare"), "build", json_object_get(root, "build"),
                         "host", a->task.host, "fence", a->fence, "cancel", cancel, "tests", tests);
    if (tests && !part)
        err_set(err, ERR_INPUT, "%s: is not an array job", path);
    json_decref(root);
    return part;
}

static int write_job(const struct attempt *a, int array, const char *run_dir, struct err *err)
{
    char from[FS_PATH_MAX], to[FS_PATH_MAX];
    json_auto_t *part = encode_part(a, array, err);
    if (!part || fs_join(from, err, a->run, RUN_JOB_PRIVATE) != 0 ||
        fs_join(to, err, run_dir, RUN_JOB_PRIVATE) != 0)
        return -1;
    json_auto_t *job = json_load(from, LIMIT_PLAN_BYTES * 2, err);
    if (!job)
        return -1;
    json_object_set(job, "part", part);
    return json_save(to, job, err);
}

static bool is_needed(const struct attempt *a)
{
    static const char *const ends[] = {RUN_CANCEL, RUN_MANIFEST};
    char path[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (fs_join(path, NULL, a->run, ends[i]) != 0 || fs_exists(path))
            return false;
    return !fs_exists(a->fence);
}

int task_run(const struct layout *layout, const char *run_id, int array, struct err *err)
{
    struct attempt a = {.task = {.host = ""}};
    struct layout own = *layout;
    struct lock lock = {.fd = -1};
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    cache_stamp_self(layout);
    if (identify(&a, layout, run_id, array, err) != 0)
        return -1;
    if (!is_needed(&a)) {
        fprintf(stderr, "kernsweep-executor task: attempt %s is too late: its results are no longer needed\n",
                a.id);
        return EXIT_DONE;
    }
    memcpy(own.runs, a.dir, sizeof own.runs);
    if (layout_run(&own, dir, run_id, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        write_job(&a, array, dir, err) != 0 || fs_join(path, err, dir, RUN_LOCK) != 0 ||
        lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try(&lock, err);
    if (rc == 0)
        rc = err_set(err, ERR_NODE, "attempt %s is already supervised", a.id);
    else if (rc == 1)
        rc = detach_supervise(&own, run_id, &lock);
    lock_close(&lock);
    return rc;
}
