/* fs_walk: fs_walk(), fs_walk_rest() and fs_walk_entries() of fs.h. */
#include "common/base/fs.h"

#include "common/base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FS_DEPTH_MAX = 64 };

/* The entries of one folder, in the kernel's packed form. */
struct listing {
    char *data;
    size_t len, cap;
    struct dirent64 **entries;
    size_t count;
};

static void listing_release(struct listing *l)
{
    free(l->data);
    free(l->entries);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Returns 1 if there may be more, 0 at the end, -1 with errno. */
static int read_entries(int fd, struct listing *l)
{
    static const size_t step = 1 << 13;
    ALLOC_GROW(l->data, l->len + step, l->cap);
    ssize_t n = getdents64(fd, l->data + l->len, l->cap - l->len);
    if (n > 0)
        l->len += (size_t)n;
    return n < 0 ? -1 : n > 0;
}

/* Some file systems do not give types in the listing. */
static void fill_type(int fd, struct dirent64 *e)
{
    struct stat st;
    if (e->d_type == DT_UNKNOWN && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        e->d_type = (unsigned char)IFTODT(st.st_mode);
}

/* Counts the entries; with out, also collects them. */
static size_t select_entries(int fd, const struct listing *l, struct dirent64 **out)
{
    size_t n = 0;
    for (size_t at = 0; at < l->len;) {
        struct dirent64 *e = (void *)(l->data + at);
        at += e->d_reclen;
        if (is_dots(e->d_name))
            continue;
        if (out) {
            fill_type(fd, e);
            out[n] = e;
        }
        n++;
    }
    return n;
}

/* Full paths are in order: a folder's name compares as if it ended in '/', which sorts after "-" and ".". */
static int by_path(const void *a, const void *b)
{
    const struct dirent64 *x = *(struct dirent64 *const *)a, *y = *(struct dirent64 *const *)b;
    size_t n = 0;
    while (x->d_name[n] && x->d_name[n] == y->d_name[n])
        n++;
    unsigned char cx = (unsigned char)x->d_name[n], cy = (unsigned char)y->d_name[n];
    if (!cx && x->d_type == DT_DIR)
        cx = '/';
    if (!cy && y->d_type == DT_DIR)
        cy = '/';
    return (int)cx - (int)cy;
}

static int list_folder(int fd, struct listing *l)
{
    int rc;
    while ((rc = read_entries(fd, l)) > 0)
        ;
    if (rc != 0)
        return -1;
    l->count = select_entries(fd, l, NULL);
    l->entries = xcalloc(l->count, sizeof(struct dirent64 *));
    select_entries(fd, l, l->entries);
    qsort(l->entries, l->count, sizeof(struct dirent64 *), by_path);
    return 0;
}

struct walk {
    bool skip_special;
    fs_walk_fn *fn;
    fs_entry_fn *entry;     /* instead of fn, for all but folders */
    fs_skipped_fn *skipped; /* NULL: the first thing that cannot be visited ends the walk */
    void *arg;
    char path[FS_PATH_MAX]; /* of the current folder or file */
    size_t rel;             /* offset at which the path below the root begins */
};

static int walk_dir(struct walk *w, int at, const char *name, size_t len, int depth, struct err *err);

/* Tells of w->path. Returns false if the walk must end there. */
static bool goes_on_without(struct walk *w, const char *why)
{
    if (w->skipped)
        w->skipped(w->path + w->rel, why, w->arg);
    return w->skipped;
}

static int too_long(struct walk *w, const char *name, size_t len, struct err *err)
{
    w->path[len] = '\0';
    errno = ENAMETOOLONG;
    return goes_on_without(w, "a path in it is too long")
               ? 0
               : err_set(err, ERR_INPUT, "path too long: %.200s/%.200s", w->path, name);
}

static int special(struct walk *w, struct err *err)
{
    errno = 0;
    if (w->skip_special || goes_on_without(w, "neither a file nor a folder"))
        return 0;
    return err_set(err, ERR_INPUT, "%s: neither a regular file nor a folder", w->path);
}

/* w->path holds the folder's path, len bytes long. */
static int walk_entry(struct walk *w, int fd, const struct dirent64 *e, size_t len, int depth,
                      struct err *err)
{
    size_t n = strlen(e->d_name);
    if (len + n + 2 > sizeof w->path)
        return too_long(w, e->d_name, len, err);
    memcpy(w->path + len, e->d_name, n + 1);
    if (e->d_type == DT_DIR) {
        memcpy(w->path + len + n, "/", 2);
        return walk_dir(w, fd, e->d_name, len + n + 1, depth + 1, err);
    }
    if (w->entry) {
        const struct fs_entry entry = {.relpath = w->path + w->rel,
                                       .fullpath = w->path,
                                       .name = e->d_name,
                                       .dirfd = fd,
                                       .type = e->d_type};
        return w->entry(&entry, w->arg, err);
    }
    return e->d_type == DT_REG ? w->fn(w->path + w->rel, w->path, w->arg, err) : special(w, err);
}

static int walk_entries(struct walk *w, int fd, size_t len, int depth, struct err *err)
{
    AUTO(listing_release) struct listing l = {0};
    int rc = list_folder(fd, &l);
    if (rc != 0 && depth > 0 && goes_on_without(w, "cannot be listed"))
        rc = 0;
    else if (rc != 0)
        err_set_errno(err, ERR_STORAGE, errno, "%s: cannot list", w->path);
    for (size_t i = 0; rc == 0 && i < l.count; i++)
        rc = walk_entry(w, fd, l.entries[i], len, depth, err);
    return rc;
}

/* w->path is len bytes long and ends in '/'. */
static int walk_dir(struct walk *w, int at, const char *name, size_t len, int depth, struct err *err)
{
    errno = depth > FS_DEPTH_MAX ? ENAMETOOLONG : 0;
    if (errno)
        return goes_on_without(w, "its folders are nested too deeply")
                   ? 0
                   : err_set(err, ERR_INPUT, "%s: folders nested deeper than %d", w->path, FS_DEPTH_MAX);
    /* The root itself may be a link; entries below it may not. */
    AUTO_CLOSE int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    if (fd < 0 && depth > 0 && goes_on_without(w, "cannot be read"))
        return 0;
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot list", w->path);
    return walk_entries(w, fd, len, depth, err);
}

static int walk(struct walk *w, const char *root, struct err *err)
{
    if (fs_join(w->path, err, root, "") != 0)
        return -1;
    w->rel = strlen(w->path);
    return walk_dir(w, AT_FDCWD, root, w->rel, 0, err);
}

int fs_walk(const char *root, bool skip_special, fs_walk_fn *fn, void *arg, struct err *err)
{
    struct walk w = {.skip_special = skip_special, .fn = fn, .arg = arg};
    return walk(&w, root, err);
}

int fs_walk_rest(const char *root, fs_walk_fn *fn, fs_skipped_fn *skipped, void *arg, struct err *err)
{
    struct walk w = {.fn = fn, .skipped = skipped, .arg = arg};
    return walk(&w, root, err);
}

int fs_walk_entries(const char *root, fs_entry_fn *fn, fs_skipped_fn *skipped, void *arg, struct err *err)
{
    struct walk w = {.entry = fn, .skipped = skipped, .arg = arg};
    return walk(&w, root, err);
}
