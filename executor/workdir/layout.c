#include "executor/workdir/layout.h"

#include "common/base/text.h"
#include "common/contract/proto.h"
#include "executor/workdir/held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* All users of a machine must arrive at the same folder: it must not depend on the caller. */
const char *machine_folder(const struct layout *l)
{
    static const char *const shared[] = {"/run/lock", "/dev/shm"};
    struct stat st;
    if (strcmp(l->sysfs, "/sys") != 0) /* a fake tree of the tests */
        return l->sysfs;
    if (strcmp(l->proc, "/proc") != 0)
        return l->proc;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (stat(shared[i], &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 01777) == 01777)
            return shared[i];
    return "/tmp";
}

int machine_gpu_file(const struct layout *l, const char *name, const char *kind, char *path, struct err *err)
{
    char file[LIMIT_NAME + 48];
    snprintf(file, sizeof file, "kernsweep-gpu-%.64s.%.24s", name, kind);
    return fs_join(path, err, machine_folder(l), file);
}

int layout_from_home(char *out, const char *path, struct err *err)
{
    if (path[0] == '/')
        return fs_join(out, err, path, "");
    const char *home = getenv("HOME");
    if (!home || home[0] != '/')
        return err_set(err, ERR_INPUT, "HOME is not set: give an absolute path in place of %.200s", path);
    return fs_join(out, err, home, path);
}

static int fs_root(char *out, const char *given, const char *standard, struct err *err)
{
    const char *fake = getenv("KERNSWEEP_FAKE_ROOT");
    if (given)
        return layout_from_home(out, given, err);
    if (fake && *fake)
        return fs_join(out, err, fake, standard + 1);
    return fs_join(out, err, standard, "");
}

static void strip_slashes(char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        path[--len] = '\0';
}

int layout_init(struct layout *l, const char *workdir, const char *sysfs, const char *proc, struct err *err)
{
    if (layout_from_home(l->workdir, workdir && *workdir ? workdir : ".kernsweep", err) != 0)
        return err_wrap(err, "--workdir");
    if (fs_root(l->sysfs, sysfs, "/sys", err) != 0 || fs_root(l->proc, proc, "/proc", err) != 0)
        return -1;
    strip_slashes(l->workdir);
    strip_slashes(l->sysfs);
    strip_slashes(l->proc);
    return fs_join(l->runs, err, l->workdir, "runs");
}

static int join_name(char *out, const char *dir, const char *name, struct err *err)
{
    if (!text_is_name(name))
        return err_set(err, ERR_INPUT, "'%.80s' is not a name (letters, digits, '_', '.', '-', at most 64)",
                       name);
    return fs_join(out, err, dir, name);
}

int layout_entry(const struct layout *l, char *out, const char *kind, const char *name, struct err *err)
{
    char dir[FS_PATH_MAX];
    return fs_join(dir, err, l->workdir, kind) != 0 ? -1 : join_name(out, dir, name, err);
}

int layout_run(const struct layout *l, char *out, const char *run_id, struct err *err)
{
    return join_name(out, l->runs, run_id, err);
}

int layout_run_file(const struct layout *l, char *out, const char *run_id, const char *file, struct err *err)
{
    char dir[FS_PATH_MAX];
    if (layout_run(l, dir, run_id, err) != 0)
        return -1;
    return fs_join(out, err, dir, file);
}

int layout_make(const struct layout *l, char *out, const char *kind, struct err *err)
{
    if (fs_join(out, err, l->workdir, kind) != 0)
        return -1;
    held_open_up(out);
    return fs_mkdir_p(out, 0700, err);
}

int layout_discard(const char *dir, const char *name, struct err *err)
{
    char path[FS_PATH_MAX], hidden[LIMIT_NAME + 8], gone[FS_PATH_MAX];
    snprintf(hidden, sizeof hidden, ".gone-%s", name);
    if (join_name(path, dir, name, err) != 0 || fs_join(gone, err, dir, hidden) != 0)
        return -1;
    if (fs_is_dir(path) && (fs_remove_tree(gone, err) != 0 || fs_rename(path, gone, err) != 0))
        return -1;
    return fs_remove_tree(gone, err);
}

json_t *layout_load(const char *run_dir, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, run_dir, name) == 0 && fs_exists(path)
               ? json_load(path, LIMIT_JSON_BYTES, NULL)
               : NULL;
}
