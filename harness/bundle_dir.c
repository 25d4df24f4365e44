#include "harness/bundle_dir.h"

#include "common/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAME_NAME_MAX = 10000 };

int bundle_dir_reserve(char *out, const char *artifacts, const char *date, const char *ticket,
                       const char *tag, struct err *err)
{
    char day[FS_PATH_MAX], name[256];
    if (fs_join(day, err, artifacts, date) != 0 || fs_mkdir_p(day, 0700, err) != 0)
        return -1;
    char *abs = realpath(day, NULL);
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
    free(abs);
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot create the bundle's folder", out)
                  : rc;
}
