#include "executor/commands/task.h"

#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/commands/detach.h"
#include "executor/run/order.h"
#include "executor/workdir/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which attempt this process is. */
struct attempt {
    long index, job, restart;
    const char *host;
    char id[ATTEMPT_ID_MAX];
    char run[FS_PATH_MAX];   /* the whole run's folder */
    char fence[FS_PATH_MAX]; /* of the task */
    char dir[FS_PATH_MAX];   /* the attempt's */
};

static int get_number(const char *name, long fallback, long *out, struct err *err)
{
    const char *text = getenv(name);
    char *end = NULL;
    *out = text ? strtol(text, &end, 10) : fallback;
    if ((!text || (end != text && !*end)) && *out >= 0)
        return 0;
    return err_set(err, ERR_INPUT, "%s is not a number: start this from the order's job script", name);
}

static int identify(struct attempt *a, const struct layout *l, const char *run_id, int order, struct err *err)
{
    if (get_number("SLURM_ARRAY_TASK_ID", -1, &a->index, err) != 0 ||
        get_number("SLURM_ARRAY_JOB_ID", -1, &a->job, err) != 0 ||
        get_number("SLURM_RESTART_COUNT", 0, &a->restart, err) != 0)
        return -1;
    const char *host = getenv("SLURMD_NODENAME");
    a->host = host ? host : "";
    snprintf(a->id, sizeof a->id, "%ld.%ld.%ld", a->index, a->job, a->restart);
    if (layout_run(l, a->run, run_id, err) != 0 ||
        order_path(a->run, a->fence, err, "%d/%ld.over", order, a->index) != 0)
        return -1;
    return order_path(a->run, a->dir, err, "%d/%s", order, a->id);
}

/* The order's own words about this task; the caller json_decref()s. */
static json_t *encode_part(const struct attempt *a, int order, struct err *err)
{
    char path[FS_PATH_MAX], cancel[FS_PATH_MAX];
    if (order_path(a->run, path, err, "%d.json", order) != 0 || fs_join(cancel, err, a->run, RUN_CANCEL) != 0)
        return NULL;
    json_t *root = json_load(path, LIMIT_JSON_BYTES, err), *part = NULL;
    json_t *tests = json_array_get(json_object_get(root, "tasks"), (size_t)a->index - 1);
    if (root && !tests)
        err_set(err, ERR_INPUT, "%s: has no task %ld", path, a->index);
    else if (root)
        part = json_pack("{s:O, s:O, s:O, s:s, s:s, s:s, s:O}", "variant", json_object_get(root, "variant"),
                         "prepare", json_object_get(root, "prepare"), "build", json_object_get(root, "build"),
                         "host", a->host, "fence", a->fence, "cancel", cancel, "tests", tests);
    if (tests && !part)
        err_set(err, ERR_INPUT, "%s: is not an order", path);
    json_decref(root);
    return part;
}

static int write_job(const struct attempt *a, int order, const char *run_dir, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *part = encode_part(a, order, err);
    json_t *job = part && fs_join(path, err, a->run, RUN_JOB_PRIVATE) == 0
                      ? json_load(path, LIMIT_PLAN_BYTES * 2, err)
                      : NULL;
    int rc = job && fs_join(path, err, run_dir, RUN_JOB_PRIVATE) == 0 ? 0 : -1;
    if (rc == 0) {
        json_object_set(job, "part", part);
        rc = json_save(path, job, err);
    }
    json_decref(part);
    json_decref(job);
    return rc;
}

static bool is_awaited(const struct attempt *a)
{
    static const char *const ends[] = {RUN_CANCEL, RUN_MANIFEST};
    char path[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (fs_join(path, NULL, a->run, ends[i]) != 0 || fs_exists(path))
            return false;
    return !fs_exists(a->fence);
}

int task_run(const struct layout *layout, const char *run_id, int order, struct err *err)
{
    struct attempt a = {.host = ""};
    struct layout own = *layout;
    struct lock lock = {.fd = -1};
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    if (identify(&a, layout, run_id, order, err) != 0)
        return -1;
    if (!is_awaited(&a)) {
        fprintf(stderr, "kernsweep-executor: task: attempt %s comes too late, nobody waits for it\n", a.id);
        return EXIT_DONE;
    }
    memcpy(own.runs, a.dir, sizeof own.runs);
    if (layout_run(&own, dir, run_id, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        write_job(&a, order, dir, err) != 0 || fs_join(path, err, dir, RUN_LOCK) != 0 ||
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
