#include "executor/bundle/bundle.h"

#include "executor/workdir/layout.h"

#include <string.h>
#include <sys/stat.h>

struct filter {
    fs_walk_fn *fn;
    void *arg;
    size_t count;
};

static bool has_hidden_part(const char *path)
{
    return path[0] == '.' || strstr(path, "/.");
}

static int visit_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct filter *f = arg;
    struct stat st;
    if (has_hidden_part(relpath) || strcmp(relpath, RUN_LOG) == 0 || !fs_safe_relpath(relpath))
        return 0;
    if (lstat(fullpath, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > BUNDLE_FILE_MAX)
        return 0;
    if (++f->count > BUNDLE_FILES_MAX)
        return err_set(err, ERR_INPUT, "more than %d files in the run's folder", BUNDLE_FILES_MAX);
    return f->fn(relpath, fullpath, f->arg, err);
}

int bundle_walk(const char *dir, fs_walk_fn *fn, void *arg, struct err *err)
{
    struct filter f = {.fn = fn, .arg = arg};
    return fs_walk(dir, true, visit_file, &f, err);
}
