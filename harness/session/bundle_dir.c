#include "harness/session/bundle_dir.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAME_NAME_MAX = 10000, LOOK_AGAIN_MS = 100 };

int bundle_dir_reserve(char *out, const char *artifacts, const char *date, const char *ticket,
                       const char *tag, struct err *err)
{
    char day[FS_PATH_MAX], name[256];
    if (fs_join(day, err, artifacts, date) != 0 || fs_mkdir_p(day, 0700, err) != 0)
        return -1;
    AUTO_FREE char *abs = realpath(day, NULL);
    if (!abs)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot resolve", day);
    int rc = -1, failed = EEXIST;
    for (int i = 1; i <= SAME_NAME_MAX && failed == EEXIST; i++) {
        int n = snprintf(name, sizeof name, "%.64s%s%.64s", ticket, *tag ? "_" : "", tag);
        if (i > 1)
            snprintf(name + n, sizeof name - (size_t)n, "_%d", i);
        rc = fs_join(out, err, abs, name);
        failed = rc == 0 && mkdir(out, 0700) != 0 ? errno : 0;
    }
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot create the bundle's folder", out)
                  : rc;
}

/* The folder itself is locked. A complete bundle replaces it by a rename, so a command that waited for the
 * lock finds the bundle. */
int bundle_dir_lock(int *fd, const char *dir, double wait_s, bundle_dir_busy *busy, void *arg,
                    struct err *err)
{
    int64_t until_ns = clock_deadline_ns(wait_s);
    if (fs_mkdir_p(dir, 0700, err) != 0)
        return -1;
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (bool first = true; *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) != 0; first = false) {
        int failed = errno == EWOULDBLOCK ? 0 : errno;
        bool stop = !failed && busy(arg, first);
        if (!failed && !stop && clock_left_ms(until_ns) > 0) {
            poll(NULL, 0, LOOK_AGAIN_MS);
            continue;
        }
        close(*fd);
        *fd = -1;
        if (stop)
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        if (!failed)
            return err_set(err, ERR_STORAGE, "%s: another command has been pulling this run for %g s", dir,
                           wait_s);
    }
    return 0;
}
