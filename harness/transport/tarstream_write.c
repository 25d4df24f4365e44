#include "harness/transport/tarstream.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/fs.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A read returns at most READ_MAX bytes; the rest of the last piece waits for the next one. */
enum {
    PIECE = 64 << 10,
    READ_MAX = 1 << 20,
    OUT_MAX = READ_MAX + 4 * PIECE,
    DEPTH_MAX = 64,
    STORE_FILES = 4
};

struct item {
    char *path; /* relative to the root */
    char *link; /* target of a symbolic link, or NULL */
    mode_t mode;
    uint64_t size;
    struct timespec written;
    time_t rank; /* its place among the times of the tree's files */
    bool settled;
};

struct tar_writer {
    char root[PATH_MAX];
    struct item *items;
    size_t count, cap;
    uint64_t content_bytes;
    struct archive *archive;
    size_t next; /* index of the next item to write */
    int fd;      /* of item next - 1, or -1 */
    uint64_t left;
    bool ended;
    struct buf out; /* produced but not yet read */
    char piece[PIECE];
};

/* State needed only for listing. */
struct listing {
    struct tar_writer *w;
    const struct tar_tree *tree;
    struct tar_limits limits;
    bool settled; /* what is listed now */
    struct stat store[STORE_FILES];
    size_t store_files;
};

/* Whoever closes such a file drops the locks that this process holds on the store, and its log is lost. */
static void find_store(struct listing *l)
{
    static const char *const ends[STORE_FILES] = {"", "-wal", "-shm", "-journal"};
    char real[PATH_MAX], path[PATH_MAX + 16];
    if (!l->tree->store || !realpath(l->tree->store, real))
        return;
    for (size_t i = 0; i < STORE_FILES; i++) {
        snprintf(path, sizeof path, "%s%s", real, ends[i]);
        if (stat(path, &l->store[l->store_files]) == 0)
            l->store_files++;
    }
}

static bool is_of_store(const struct listing *l, const struct stat *st)
{
    for (size_t i = 0; i < l->store_files; i++)
        if (l->store[i].st_dev == st->st_dev && l->store[i].st_ino == st->st_ino)
            return true;
    return false;
}

static bool is_skipped(const struct tar_tree *tree, const char *name)
{
    if (strcmp(name, ".git") == 0)
        return true;
    for (const char *const *s = tree->skip; s && *s; s++) {
        if (strcmp(*s, name) == 0)
            return true;
    }
    return false;
}

static int add_item(struct listing *l, const char *path, const char *link, const struct stat *st,
                    struct err *err)
{
    struct tar_writer *w = l->w;
    uint64_t size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    if (w->count >= l->limits.entries)
        return err_set(err, ERR_INPUT, "%s: more than %zu files; name the folders to send (source.include)",
                       w->root, l->limits.entries);
    if (size > l->limits.file_bytes || w->content_bytes + size > l->limits.total_bytes)
        return err_set(err, ERR_INPUT,
                       "%s/%s: the tree is larger than may be sent (%llu bytes a file, %llu in all)", w->root,
                       path, (unsigned long long)l->limits.file_bytes,
                       (unsigned long long)l->limits.total_bytes);
    ALLOC_GROW(w->items, w->count + 1, w->cap);
    struct item item = {.path = xstrdup(path),
                        .link = link ? xstrdup(link) : NULL,
                        .size = size,
                        .written = st->st_mtim,
                        .settled = l->settled};
    if (S_ISREG(st->st_mode))
        item.mode = S_IFREG | ((st->st_mode & 0111) ? 0755 : 0644);
    else
        item.mode = link ? S_IFLNK | 0777 : S_IFDIR | 0755;
    w->items[w->count++] = item;
    w->content_bytes += size;
    return 0;
}

/* A link is sent unchanged, so it must resolve on the node as it does here. */
static int add_link(struct listing *l, const char *path, const char *full, const struct stat *st,
                    struct err *err)
{
    char target[PATH_MAX], real[PATH_MAX];
    ssize_t n = readlink(full, target, sizeof target - 1);
    if (n < 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s", full);
    target[n] = '\0';
    size_t root_len = strlen(l->w->root);
    if (target[0] == '/' || !realpath(full, real) || strncmp(real, l->w->root, root_len) != 0 ||
        (real[root_len] != '/' && real[root_len] != '\0'))
        return err_set(err, ERR_INPUT,
                       "%s: the link leads to \"%s\", out of the tree or nowhere; it cannot be sent", full,
                       target);
    return add_item(l, path, target, st, err);
}

static int add_path(struct listing *l, const char *path, int depth, struct err *err);

static int add_folder(struct listing *l, const char *path, const char *full, int depth, struct err *err)
{
    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: folders nested deeper than %d", full, DEPTH_MAX);
    DIR *dir = opendir(full);
    if (!dir)
        return err_set_errno(err, ERR_INPUT, errno, "%s", full);
    int rc = 0;
    const struct dirent *e;
    while (rc == 0 && (errno = 0, e = readdir(dir))) {
        char child[FS_PATH_MAX];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_skipped(l->tree, e->d_name))
            continue;
        if (*path)
            rc = fs_join(child, err, path, e->d_name);
        else
            snprintf(child, sizeof child, "%s", e->d_name);
        if (rc == 0)
            rc = add_path(l, child, depth + 1, err);
    }
    if (rc == 0 && errno)
        rc = err_set_errno(err, ERR_INPUT, errno, "%s", full);
    closedir(dir);
    return rc;
}

/* path: relative, "" for the root. Only an empty folder is listed itself: the others come with their files.
 */
static int add_path(struct listing *l, const char *path, int depth, struct err *err)
{
    char full[FS_PATH_MAX];
    struct stat st;
    if (fs_join(full, err, l->w->root, *path ? path : "."))
        return -1;
    if (lstat(full, &st) < 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s", full);
    if (S_ISLNK(st.st_mode))
        return add_link(l, path, full, &st, err);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: neither file, folder nor link; it cannot be sent", full);
    size_t before = l->w->count;
    if (S_ISREG(st.st_mode))
        return is_of_store(l, &st) ? 0 : add_item(l, path, NULL, &st, err);
    if (add_folder(l, path, full, depth, err))
        return -1;
    return *path && l->w->count == before && !l->tree->timeless ? add_item(l, path, NULL, &st, err) : 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

/* Included paths may overlap ("src", "src/lib"); each file is sent once. */
static void sort_and_unite(struct tar_writer *w)
{
    if (w->count == 0)
        return;
    qsort(w->items, w->count, sizeof *w->items, by_path);
    size_t kept = 1;
    for (size_t i = 1; i < w->count; i++) {
        if (strcmp(w->items[i].path, w->items[kept - 1].path) == 0) {
            w->content_bytes -= w->items[i].size;
            free(w->items[i].path);
            free(w->items[i].link);
        } else {
            w->items[kept++] = w->items[i];
        }
    }
    w->count = kept;
}

static int by_time(const void *a, const void *b)
{
    const struct timespec *x = &(*(struct item *const *)a)->written,
                          *y = &(*(struct item *const *)b)->written;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Ranks the files of one time. Settled ones that no other file separates have the same rank, so that a
 * checkout, which writes its files in any order, is always the same tree. */
static size_t rank_equals(struct item **item, size_t left, time_t *rank, bool *was_settled)
{
    size_t n = 0;
    bool settled = true;
    for (; n < left && by_time(&item[0], &item[n]) == 0; n++)
        settled = settled && item[n]->settled;
    *rank += *rank < 0 || !settled || !*was_settled;
    *was_settled = settled;
    for (size_t i = 0; i < n; i++)
        item[i]->rank = *rank;
    return n;
}

static void rank_times(struct tar_writer *w)
{
    AUTO_FREE struct item **files = xcalloc(w->count + 1, sizeof(struct item *));
    size_t n = 0;
    time_t rank = -1;
    bool was_settled = false;
    for (size_t i = 0; i < w->count; i++)
        if (S_ISREG(w->items[i].mode))
            files[n++] = &w->items[i];
    qsort(files, n, sizeof *files, by_time);
    for (size_t i = 0; i < n;)
        i += rank_equals(files + i, n - i, &rank, &was_settled);
}

static int add_named(struct listing *l, const char *const *paths, struct err *err)
{
    for (; paths && *paths; paths++) {
        if (strcmp(*paths, ".") != 0 && !fs_safe_relpath(*paths))
            return err_set(err, ERR_INPUT, "%s: \"%s\" does not name a path inside the tree", l->w->root,
                           *paths);
        if (add_path(l, strcmp(*paths, ".") == 0 ? "" : *paths, 0, err))
            return -1;
    }
    return 0;
}

static int list_tree(struct tar_writer *w, const struct tar_tree *tree, struct err *err)
{
    struct listing l = {.w = w, .tree = tree, .limits = tar_limits_fill(&tree->limits)};
    find_store(&l);
    if (!realpath(tree->root, w->root))
        return err_set_errno(err, ERR_INPUT, errno, "%s", tree->root);
    if (!fs_is_dir(w->root))
        return err_set(err, ERR_INPUT, "%s: not a folder", tree->root);
    if (tree->include ? add_named(&l, tree->include, err) : add_path(&l, "", 0, err))
        return -1;
    l.settled = true;
    if (add_named(&l, tree->settled, err))
        return -1;
    if (w->count == 0)
        return err_set(
            err, ERR_INPUT,
            "%s: nothing to send: there are no files but those that git ignores or kernsweep made; check "
            "source.dir and source.include",
            w->root);
    sort_and_unite(w);
    if (!tree->timeless)
        rank_times(w);
    return 0;
}

static la_ssize_t keep_output(struct archive *a, void *arg, const void *data, size_t len)
{
    struct tar_writer *w = arg;
    buf_add(&w->out, data, len);
    if (buf_ok(&w->out))
        return (la_ssize_t)len;
    archive_set_error(a, EFBIG, "too much of it at once");
    return -1;
}

static int fail_archive(const struct tar_writer *w, struct err *err)
{
    const char *text = archive_error_string(w->archive);
    return err_set(err, ERR_INTERNAL, "%s: cannot write the tar stream: %s", w->root, text ? text : "?");
}

static int start_archive(struct tar_writer *w, struct err *err)
{
    w->archive = archive_write_new();
    if (!w->archive)
        return err_set(err, ERR_INTERNAL, "%s: libarchive cannot begin", w->root);
    if (archive_write_set_format_gnutar(w->archive) != ARCHIVE_OK ||
        archive_write_add_filter_none(w->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(w->archive, 0) != ARCHIVE_OK ||
        archive_write_open(w->archive, w, NULL, keep_output, NULL) != ARCHIVE_OK)
        return fail_archive(w, err);
    return 0;
}

int tar_writer_open(struct tar_writer **out, const struct tar_tree *tree, struct err *err)
{
    struct tar_writer *w = xcalloc(1, sizeof *w);
    w->fd = -1;
    buf_init(&w->out, OUT_MAX);
    if (list_tree(w, tree, err) || start_archive(w, err)) {
        tar_writer_close(w);
        return -1;
    }
    *out = w;
    return 0;
}

void tar_writer_close(struct tar_writer *w)
{
    if (!w)
        return;
    if (w->archive)
        archive_write_free(w->archive);
    if (w->fd >= 0)
        close(w->fd);
    for (size_t i = 0; i < w->count; i++) {
        free(w->items[i].path);
        free(w->items[i].link);
    }
    free(w->items);
    buf_release(&w->out);
    free(w);
}

static int open_contents(struct tar_writer *w, const struct item *item, struct err *err)
{
    char full[FS_PATH_MAX];
    struct stat st;
    if (fs_join(full, err, w->root, item->path))
        return -1;
    w->fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (w->fd < 0 || fstat(w->fd, &st) < 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s", full);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != item->size)
        return err_set(err, ERR_INPUT, "%s changed while it was being sent; run again", full);
    w->left = item->size;
    return 0;
}

static int write_header(struct tar_writer *w, const struct item *item, struct err *err)
{
    struct archive_entry *e = archive_entry_new();
    if (!e)
        return err_set(err, ERR_INTERNAL, "%s: libarchive cannot describe a file", w->root);
    archive_entry_set_pathname(e, item->path);
    archive_entry_set_mode(e, item->mode);
    archive_entry_set_size(e, (la_int64_t)item->size);
    archive_entry_set_mtime(e, item->rank, 0);
    if (item->link)
        archive_entry_set_symlink(e, item->link);
    int rc = archive_write_header(w->archive, e);
    archive_entry_free(e);
    return rc == ARCHIVE_OK ? 0 : fail_archive(w, err);
}

static int next_item(struct tar_writer *w, struct err *err)
{
    if (w->next == w->count) {
        w->ended = true;
        return archive_write_close(w->archive) == ARCHIVE_OK ? 0 : fail_archive(w, err);
    }
    const struct item *item = &w->items[w->next++];
    if (S_ISREG(item->mode) && open_contents(w, item, err))
        return -1;
    return write_header(w, item, err);
}

static int next_piece(struct tar_writer *w, struct err *err)
{
    const struct item *item = &w->items[w->next - 1];
    size_t want = w->left < PIECE ? (size_t)w->left : PIECE;
    ssize_t n = want ? read(w->fd, w->piece, want) : 0;
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s/%s", w->root, item->path);
    if (n == 0 && w->left > 0)
        return err_set(err, ERR_INPUT, "%s/%s changed while it was being sent; run again", w->root,
                       item->path);
    if (n > 0 && archive_write_data(w->archive, w->piece, (size_t)n) != n)
        return fail_archive(w, err);
    w->left -= (uint64_t)n;
    if (w->left == 0) {
        close(w->fd);
        w->fd = -1;
    }
    return 0;
}

ssize_t tar_writer_read(void *arg, void *buf, size_t cap, struct err *err)
{
    struct tar_writer *w = arg;
    size_t enough = cap < READ_MAX ? cap : READ_MAX; /* avoids a small packet for every small file */
    while (w->out.len < enough && (!w->ended || w->fd >= 0)) {
        if (w->fd >= 0 ? next_piece(w, err) : next_item(w, err))
            return -1;
    }
    size_t n = w->out.len < enough ? w->out.len : enough;
    if (n > 0)
        memcpy(buf, w->out.data, n);
    buf_consume(&w->out, n);
    return (ssize_t)n;
}

int tar_tree_hash(const struct tar_tree *tree, char *hex, uint64_t *size, struct err *err)
{
    struct tar_writer *w;
    if (tar_writer_open(&w, tree, err))
        return -1;
    AUTO_FREE char *data = xmalloc(PIECE);
    struct sha256 h;
    uint64_t total = 0;
    ssize_t n;
    sha256_begin(&h);
    while ((n = tar_writer_read(w, data, PIECE, err)) > 0) {
        sha256_add(&h, data, (size_t)n);
        total += (uint64_t)n;
    }
    tar_writer_close(w);
    if (n < 0)
        return -1;
    sha256_end(&h, hex);
    if (size)
        *size = total;
    return 0;
}
