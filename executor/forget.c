#include "executor/forget.h"

#include <stdio.h>

/* Gone at once for everybody else; the bytes follow, now or, after a crash, the next time. */
int forget(const struct layout *layout, const char *run_id, struct err *err)
{
    char dir[FS_PATH_MAX], manifest[FS_PATH_MAX], gone[FS_PATH_MAX];
    if (layout_run(layout, dir, run_id, err) != 0 || fs_join(manifest, err, dir, RUN_MANIFEST) != 0)
        return -1;
    int n = snprintf(gone, sizeof gone, "%s/runs/.gone-%s", layout->workdir, run_id);
    if (n < 0 || n >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "%.200s: path too long", layout->workdir);
    if (fs_is_dir(dir)) {
        if (!fs_exists(manifest))
            return err_set(err, ERR_INPUT, "%s: the run is not closed, so it is not forgotten", dir);
        if (fs_remove_tree(gone, err) != 0 || fs_rename(dir, gone, err) != 0)
            return -1;
    }
    return fs_remove_tree(gone, err);
}
