#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/program_env.h"
#include "executor/process/child.h"
#include "executor/suite/assess.h"
#include "executor/workdir/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { MESSAGE_MAX = 4096, SPARE_BYTES = 64 << 20 };

static const double copy_limit_s = 600;

static void keep_message(void *arg, const char *data, size_t len)
{
    struct buf *out = arg;
    size_t room = MESSAGE_MAX - out->len;
    buf_add(out, data, len < room ? len : room);
}

static int run_cp(struct suite *s, char **argv, struct assessment *out, struct buf *said, struct err *err)
{
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    struct process_spec spec = {.argv = argv, .cwd = "/", .input = -1};
    struct child_limits limits = {.timeout_s = copy_limit_s, .kill_grace_s = 1};
    struct child_hooks hooks = {.output = keep_message, .arg = said};
    struct child_result result;
    struct ending ending;
    program_env(argv[0], &env);
    spec.env = env.v;
    if (child_run(&s->loop, &spec, &limits, &hooks, &result, err) != 0)
        return -1;
    child_ending(&result, &limits, argv[0], &ending);
    *out = assess_ending(&ending);
    return 0;
}

int disk_check(const char *dir, uint64_t bytes, struct err *err)
{
    struct statvfs fs;
    if (statvfs(dir, &fs) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot determine the free space", dir);
    unsigned long long left = (uint64_t)fs.f_bavail * fs.f_frsize, needed = bytes + SPARE_BYTES;
    return left >= needed
               ? 0
               : err_set(err, ERR_NODE,
                         "%s: only %llu MiB are free, and %llu are needed: free some, or share the sources "
                         "with \"in_tree\"",
                         dir, left >> 20, needed >> 20);
}

/* A node that runs out of space in the middle of a night measures nothing more. */
static int check_space(const char *from, const char *to, struct err *err)
{
    char parent[FS_PATH_MAX];
    uint64_t bytes;
    fs_parent(to, parent);
    return tree_bytes(from, &bytes, err) != 0 || disk_check(parent, bytes, err) != 0 ? -1 : 0;
}

int copy_tree(struct suite *s, const char *from, const char *to, struct err *err)
{
    char cp[] = "cp", keep[] = "-a", share[] = "--reflink=auto", end[] = "--", src[FS_PATH_MAX],
         dst[FS_PATH_MAX];
    char *sharing[] = {cp, keep, share, end, src, dst, NULL}, *plain[] = {cp, keep, end, src, dst, NULL};
    struct assessment how = {.status = STATUS_OK};
    AUTO(buf_release) struct buf said = {.max = MESSAGE_MAX};
    snprintf(src, sizeof src, "%s", from);
    snprintf(dst, sizeof dst, "%s", to);
    if (check_space(from, to, err) != 0 || run_cp(s, sharing, &how, &said, err) != 0)
        return -1;
    if (how.status != STATUS_OK && !s->loop.stop) { /* a cp that does not know the option */
        buf_clear(&said);
        if (fs_remove_tree(to, err) != 0 || run_cp(s, plain, &how, &said, err) != 0)
            return -1;
    }
    if (s->loop.stop)
        return 0;
    return how.status == STATUS_OK
               ? 1
               : err_set(err, ERR_NODE, "copying the sources: %.200s %.200s", how.reason, buf_str(&said));
}
