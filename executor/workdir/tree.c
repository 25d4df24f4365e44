#include "executor/workdir/tree.h"

#include "common/contract/proto.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 128 };

static mode_t mode_for(mode_t mode, bool writable)
{
    return (writable ? mode | S_IWUSR : mode & ~(mode_t)(S_IWUSR | S_IWGRP | S_IWOTH)) & 07777;
}

static void set_modes(int fd, bool writable, int depth);

static void set_entry(int dirfd, const char *name, bool writable, int depth)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
        return;
    mode_t mode = mode_for(st.st_mode, writable);
    if (mode != (st.st_mode & 07777))
        (void)fchmodat(dirfd, name, mode, 0);
    int fd = S_ISDIR(st.st_mode) && depth < DEPTH_MAX
                 ? openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    if (fd >= 0)
        set_modes(fd, writable, depth + 1);
}

/* Closes fd. */
static void set_modes(int fd, bool writable, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir)
        close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            set_entry(dirfd(dir), e->d_name, writable, depth);
    if (dir)
        closedir(dir);
}

void tree_set_writable(const char *dir, bool writable)
{
    set_entry(AT_FDCWD, dir, writable, 0);
}

static int seal_path(const struct layout *l, char *out, const char *kind, const char *name, struct err *err)
{
    char dir[FS_PATH_MAX], file[LIMIT_NAME + 32];
    snprintf(file, sizeof file, "%.16s-%.*s", kind, LIMIT_NAME, name);
    return fs_join(dir, err, l->workdir, "seals") != 0 ? -1 : fs_join(out, err, dir, file);
}

int tree_temporary(const struct layout *l, const char *kind, struct temporary *t, char *inner,
                   struct err *err)
{
    char dir[FS_PATH_MAX], unnamed[FS_PATH_MAX];
    return layout_make(l, dir, kind, err) != 0 || fs_join(unnamed, err, dir, "/") != 0 ||
                   temporary_folder(t, unnamed, err) != 0
               ? -1
               : fs_join(inner, err, t->path, "tree");
}

/* An executor that was half pushed lies beside where it would have been. */
static void sweep_executors(const struct layout *l, json_t *left)
{
    char bin[FS_PATH_MAX], dir[FS_PATH_MAX];
    DIR *d = fs_join(bin, NULL, l->workdir, "bin") == 0 ? opendir(bin) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && fs_join(dir, NULL, bin, e->d_name) == 0)
            temporary_sweep(dir, NULL, left);
    if (d)
        closedir(d);
}

json_t *tree_sweep(const struct layout *l)
{
    static const char *const kinds[] = {TREE_STAGED, TREE_PATCHED, TREE_OWN};
    json_t *left = json_array();
    char dir[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (fs_join(dir, NULL, l->workdir, kinds[i]) == 0)
            temporary_sweep(dir, NULL, left);
    sweep_executors(l, left);
    return left;
}

int tree_close(const struct layout *l, const char *kind, const char *name, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    if (layout_make(l, dir, "seals", err) != 0 || seal_path(l, path, kind, name, err) != 0 ||
        layout_entry(l, dir, kind, name, err) != 0)
        return -1;
    tree_set_writable(dir, false);
    return seal_write(dir, path, NULL, err);
}

int tree_look(const struct layout *l, const char *kind, const char *name, seal_fn *fn, void *arg,
              struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    if (layout_entry(l, dir, kind, name, err) != 0 || seal_path(l, path, kind, name, err) != 0)
        return -1;
    return fs_is_dir(dir) ? seal_look(dir, path, SEAL_WHOLE, fn, arg, err) : 0;
}

int tree_check(const struct layout *l, const char *kind, const char *name, char *why, struct err *err)
{
    *why = '\0';
    return tree_look(l, kind, name, seal_keep_first, why, err);
}

void tree_unseal(const struct layout *l, const char *kind, const char *name)
{
    char path[FS_PATH_MAX];
    if (seal_path(l, path, kind, name, NULL) == 0)
        unlink(path);
}

static int add_bytes(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct stat st;
    (void)relpath;
    (void)err;
    if (lstat(fullpath, &st) == 0)
        *(uint64_t *)arg += (uint64_t)st.st_size;
    return 0;
}

static void leave_out(const char *relpath, const char *why, void *arg)
{
    (void)relpath;
    (void)why;
    (void)arg;
}

int tree_bytes(const char *dir, uint64_t *bytes, struct err *err)
{
    *bytes = 0;
    return fs_walk_rest(dir, add_bytes, leave_out, bytes, err);
}
