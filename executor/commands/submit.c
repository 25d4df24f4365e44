#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/bundle/fault.h"
#include "executor/bundle/job.h"
#include "executor/bundle/manifest.h"
#include "executor/bundle/secrets.h"
#include "executor/commands/detach.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DISK_FREE_MIN = 4 << 20 };

static const char *const request_keys[] = {"plan", "job", NULL};

static json_t *read_request(int fd, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LIMIT_PLAN_BYTES};
    char data[64 << 10];
    ssize_t n;
    while ((n = read(fd, data, sizeof data)) > 0 || (n < 0 && errno == EINTR))
        buf_add(&text, data, n > 0 ? (size_t)n : 0);
    if (n >= 0 && buf_ok(&text))
        return json_parse(buf_str(&text), text.len, "stdin", err);
    if (n < 0)
        err_set_errno(err, ERR_INPUT, errno, "stdin: cannot read");
    else
        err_set(err, ERR_INPUT, "stdin: larger than the limit of %d bytes", LIMIT_PLAN_BYTES);
    return NULL;
}

static int save_clean(const char *dir, const char *name, const struct secrets *secrets, json_t *value,
                      struct err *err)
{
    char path[FS_PATH_MAX];
    json_auto_t *clean = secrets_clean_json(secrets, value);
    return fs_join(path, err, dir, name) != 0 ? -1 : json_save(path, clean, err);
}

/* The supervisor gets the job with the values of secrets; the bundle gets job and plan without them. */
static int write_run(const char *dir, const struct job *job, json_t *plan, struct err *err)
{
    AUTO(secrets_release) struct secrets secrets = {.count = 0};
    if (secrets_init(&secrets, job, err) != 0 || fault_reserve(dir, err) != 0 ||
        save_clean(dir, RUN_PLAN, &secrets, plan, err) != 0 ||
        save_clean(dir, RUN_JOB, &secrets, job->root, err) != 0)
        return -1;
    return save_clean(dir, RUN_JOB_PRIVATE, NULL, job->root, err);
}

/* What git knew of the sources may have changed between two attempts; their hash has not. */
static bool is_same_job(json_t *old, const json_t *job)
{
    json_auto_t *now = json_deep_copy(job);
    json_object_del(json_object_get(old, "source"), "git");
    json_object_del(json_object_get(now, "source"), "git");
    bool same = json_equal(old, now);
    return same;
}

/* A run that is resumed must be the same run. */
static int check_same(const char *dir, const struct job *job, struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(secrets_release) struct secrets secrets = {.count = 0};
    if (fs_join(path, err, dir, RUN_JOB) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    json_auto_t *old = json_load(path, LIMIT_PLAN_BYTES * 2, err);
    if (!old || secrets_init(&secrets, job, err) != 0)
        return -1;
    json_auto_t *clean = secrets_clean_json(&secrets, job->root);
    return is_same_job(old, clean)
               ? 0
               : err_set(err, ERR_INPUT, "%s: another job has this run id; use a new one", path);
}

static int check_source(const struct layout *layout, const struct job *job, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!job->source_sha256)
        return 0;
    if (layout_entry(layout, path, "src", job->source_sha256, err) != 0)
        return -1;
    cache_stamp(path);
    return fs_is_dir(path) ? 0 : err_set(err, ERR_INPUT, "%s: no such source tree; stage it first", path);
}

static int write_reply(struct buf *out, const char *dir, const char *run_id, pid_t pid, const char *state,
                       struct err *err)
{
    json_auto_t *v = json_pack("{s:s, s:s, s:s, s:o}", "run_id", run_id, "dir", dir, "state", state, "pid",
                               pid > 0 ? json_integer(pid) : json_null());
    int rc = json_encode(v, out, err);
    buf_putc(out, '\n');
    return rc;
}

/* A run that would end in the middle for want of space is refused now. */
static int check_disk(const char *dir, struct err *err)
{
    struct statvfs fs;
    if (statvfs(dir, &fs) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot determine the free space", dir);
    uint64_t bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes >= DISK_FREE_MIN)
        return 0;
    return err_set(
        err, ERR_NODE,
        "%s: only %llu bytes of disk are free and a run needs %d; free some space and submit again", dir,
        (unsigned long long)bytes, DISK_FREE_MIN);
}

/* The run's lock is held. */
static int start_run(const struct layout *layout, const char *dir, const struct job *job, json_t *plan,
                     struct lock *lock, struct buf *out, struct err *err)
{
    pid_t pid;
    if (check_same(dir, job, err) != 0)
        return -1;
    if (manifest_is_there(dir))
        return write_reply(out, dir, job->run_id, 0, "complete", err);
    cache_stamp_self(layout);
    if (check_disk(dir, err) != 0 || check_source(layout, job, err) != 0 ||
        write_run(dir, job, plan, err) != 0 ||
        detach_supervisor(layout, dir, job->run_id, lock, &pid, err) != 0)
        return -1;
    return write_reply(out, dir, job->run_id, pid, "started", err);
}

static int submit_job(const struct layout *layout, const struct job *job, json_t *plan, struct buf *out,
                      struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    struct lock lock = {.fd = -1};
    struct lock_holder holder;
    if (layout_make(layout, path, "runs", err) != 0 || layout_run(layout, dir, job->run_id, err) != 0 ||
        fs_mkdir_p(dir, 0700, err) != 0 || fs_join(path, err, dir, RUN_LOCK) != 0 ||
        lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try(&lock, err);
    if (rc == 1)
        rc = start_run(layout, dir, job, plan, &lock, out, err);
    else if (rc == 0 && lock_look(path, &holder, err) == 0)
        rc = write_reply(out, dir, job->run_id, holder.pid, "running", err);
    lock_close(&lock);
    return rc;
}

int submit(const struct layout *layout, int in_fd, struct buf *out, struct err *err)
{
    AUTO(job_release) struct job job = {.root = NULL};
    json_auto_t *root = read_request(in_fd, err);
    struct json_at at = json_root(root, "stdin");
    struct json_at plan = json_member(&at, "plan");
    if (!root)
        return -1;
    if (!json_is_object(root))
        return json_fail(&at, err, "expected an object with \"plan\" and \"job\"");
    if (json_keys(&at, request_keys, err) != 0)
        return -1;
    if (!json_is_object(plan.value))
        return json_fail(&plan, err, "expected an object");
    if (job_init(&job, json_incref(json_object_get(root, "job")), "stdin: job", err) != 0)
        return -1;
    return submit_job(layout, &job, json_object_get(root, "plan"), out, err);
}
