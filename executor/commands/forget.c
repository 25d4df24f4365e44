#include "executor/commands/forget.h"

int forget(const struct layout *layout, const char *run_id, struct err *err)
{
    char dir[FS_PATH_MAX], manifest[FS_PATH_MAX];
    if (layout_run(layout, dir, run_id, err) != 0 || fs_join(manifest, err, dir, RUN_MANIFEST) != 0)
        return -1;
    if (fs_is_dir(dir) && !fs_exists(manifest))
        return err_set(err, ERR_INPUT, "%s: the run is not closed; cancel it first", dir);
    return layout_discard(layout->runs, run_id, err);
}
