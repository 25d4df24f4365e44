#include "common/base/alloc.h"
#include "harness/transport/tarstream.h"

#include "common/base/fs.h"
#include "common/contract/bundle_limits.h"
#include "harness/transport/spool.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10, BLOCK = 512, END_OF_TAR = 2 * BLOCK };
static_assert((int)END_OF_TAR == (int)SPOOL_TAIL, "the end of a tar is looked for in the spool's tail");

static const uint64_t default_total_bytes = (uint64_t)BUNDLE_BYTES_MAX;
static const uint64_t default_file_bytes = 2ull << 30;
static const size_t default_entries = 2 * BUNDLE_FILES_MAX; /* with folders */
/* Headers, long names and padding of an entry. */
static const uint64_t overhead_per_entry = 8 * BLOCK;

/* libarchive pulls while transports push, so the stream passes through a spool: a thread extracts what has
 * arrived, and the network need not wait for the disk. Only the members below `lock` are shared. */
struct tar_extractor {
    char dir[FS_PATH_MAX];
    struct tar_limits limits;
    struct spool spool;
    uint64_t extracted;
    size_t entries;
    char piece[PIECE];
    pthread_t thread;
    bool begun, running, whole;
    pthread_mutex_t lock;
    bool failed;
    struct err err; /* valid once failed */
};

struct tar_limits tar_limits_fill(const struct tar_limits *given)
{
    struct tar_limits l = given ? *given : (struct tar_limits){0};
    if (l.total_bytes == 0)
        l.total_bytes = default_total_bytes;
    if (l.file_bytes == 0)
        l.file_bytes = default_file_bytes;
    if (l.entries == 0)
        l.entries = default_entries;
    return l;
}

static uint64_t spool_limit(const struct tar_limits *l)
{
    return l->total_bytes + overhead_per_entry * l->entries;
}

static int fail_refused(const struct tar_extractor *x, const char *name, const char *why, struct err *err)
{
    return err_set(err, ERR_NODE, "%s: refused what the node sent: \"%s\" %s", x->dir, name, why);
}

/* An existing entry, above all a link, could redirect extracted files to another place. */
static int require_empty(const char *dir, struct err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_set_errno(err, ERR_STORAGE, errno, "%s", dir);
    int names = 0;
    while (names < 3 && readdir(d))
        names++;
    closedir(d);
    return names < 3 ? 0 : err_set(err, ERR_STORAGE, "%s: the folder to extract into is not empty", dir);
}

static void *extract_thread(void *arg);

static int start_thread(struct tar_extractor *x, struct err *err)
{
    int failed = pthread_create(&x->thread, NULL, extract_thread, x);
    x->begun = x->running = failed == 0;
    return failed ? err_set_errno(err, ERR_INTERNAL, failed, "cannot start a thread to extract in") : 0;
}

static int prepare(struct tar_extractor *x, const char *dir, struct err *err)
{
    int n = snprintf(x->dir, sizeof x->dir, "%s", dir);
    if (n <= 0 || (size_t)n >= sizeof x->dir)
        return err_set(err, ERR_INPUT, "%s: the path is too long", dir);
    if (fs_mkdir_p(dir, 0700, err) != 0 || require_empty(dir, err) != 0 ||
        spool_open(&x->spool, x->dir, err) != 0)
        return -1;
    return start_thread(x, err);
}

int tar_extractor_open(struct tar_extractor **out, const char *dir, const struct tar_limits *limits,
                       struct err *err)
{
    struct tar_extractor *x = xcalloc(1, sizeof *x);
    x->spool.file = -1;
    pthread_mutex_init(&x->lock, NULL);
    x->limits = tar_limits_fill(limits);
    if (prepare(x, dir, err) != 0) {
        tar_extractor_close(x);
        return -1;
    }
    *out = x;
    return 0;
}

/* Ends the thread, and waits for it. */
static void join_thread(struct tar_extractor *x, bool abandoned)
{
    if (!x->running)
        return;
    spool_stop(&x->spool, abandoned);
    pthread_join(x->thread, NULL);
    x->running = false;
}

void tar_extractor_close(struct tar_extractor *x)
{
    if (!x)
        return;
    join_thread(x, true);
    if (x->begun && !x->whole) /* keep what existed before */
        fs_remove_tree(x->dir, NULL);
    pthread_mutex_destroy(&x->lock);
    spool_close(&x->spool);
    free(x);
}

int tar_extractor_write(void *arg, const char *data, size_t len, struct err *err)
{
    struct tar_extractor *x = arg;
    if (x->spool.added + len > spool_limit(&x->limits))
        return err_set(err, ERR_NODE, "%s: refused what the node sent: more than %llu bytes", x->dir,
                       (unsigned long long)spool_limit(&x->limits));
    if (spool_add(&x->spool, data, len, err))
        return err_wrap(err, "%s", x->dir);
    pthread_mutex_lock(&x->lock);
    bool failed = x->failed;
    pthread_mutex_unlock(&x->lock);
    if (failed)
        *err = x->err; /* it no longer changes */
    return failed ? -1 : 0;
}

/* Needs no lock, as only the thread that writes changes it. */
uint64_t tar_extractor_received(const struct tar_extractor *x)
{
    return x->spool.added;
}

/* A complete tar ends in two blocks of zeros, which libarchive does not require. */
static int check_end(struct tar_extractor *x, struct err *err)
{
    static const char zeros[END_OF_TAR];
    uint64_t added = x->spool.added;
    if (added < END_OF_TAR || added % BLOCK != 0 || memcmp(x->spool.tail, zeros, sizeof zeros) != 0)
        return err_set(err, ERR_NODE, "%s: what the node sent is cut short (%llu bytes)", x->dir,
                       (unsigned long long)added);
    return 0;
}

/* The name without leading "./" and trailing "/"; NULL when it is not a plain relative path. */
static const char *plain_name(const char *name, char *out)
{
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    size_t len = strlen(name);
    while (len > 1 && name[len - 1] == '/')
        len--;
    if (len >= FS_PATH_MAX)
        return NULL;
    memcpy(out, name, len);
    out[len] = '\0';
    return fs_safe_relpath(out) ? out : NULL;
}

static int make_parent(const char *full, struct err *err)
{
    char parent[FS_PATH_MAX];
    fs_parent(full, parent);
    return fs_mkdir_p(parent, 0700, err);
}

static int copy_contents(struct tar_extractor *x, struct archive *a, const char *name, int fd,
                         struct err *err)
{
    uint64_t size = 0;
    for (;;) {
        la_ssize_t n = archive_read_data(a, x->piece, sizeof x->piece);
        if (n == 0)
            return 0;
        if (n < 0)
            return fail_refused(x, name, "is damaged", err);
        size += (uint64_t)n;
        x->extracted += (uint64_t)n;
        if (size > x->limits.file_bytes || x->extracted > x->limits.total_bytes)
            return fail_refused(x, name, "exceeds the limit on sizes", err);
        if (fs_write_all(fd, x->piece, (size_t)n))
            return err_set_errno(err, ERR_STORAGE, errno, "%s/%s", x->dir, name);
    }
}

static int extract_file(struct tar_extractor *x, struct archive *a, const char *name, const char *full,
                        struct err *err)
{
    if (make_parent(full, err))
        return -1;
    int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return fail_refused(x, name, "comes twice", err);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s", full);
    int rc = copy_contents(x, a, name, fd, err);
    if (close(fd) < 0 && rc == 0)
        rc = err_set_errno(err, ERR_STORAGE, errno, "%s", full);
    return rc;
}

static int extract_entry(struct tar_extractor *x, struct archive *a, struct archive_entry *e, struct err *err)
{
    char buf[FS_PATH_MAX], full[FS_PATH_MAX];
    const char *given = archive_entry_pathname(e);
    mode_t type = archive_entry_filetype(e);
    if (!given)
        return fail_refused(x, "?", "has no readable name", err);
    if (++x->entries > x->limits.entries)
        return fail_refused(x, given, "is one entry too many", err);
    if (type == AE_IFDIR && (strcmp(given, ".") == 0 || strcmp(given, "./") == 0))
        return 0;
    const char *name = plain_name(given, buf);
    if (!name)
        return fail_refused(x, given, "is not a plain relative path", err);
    if (archive_entry_hardlink(e) || archive_entry_symlink(e) || (type != AE_IFREG && type != AE_IFDIR))
        return fail_refused(x, given, "is neither a file nor a folder", err);
    if (archive_entry_size(e) < 0 || (uint64_t)archive_entry_size(e) > x->limits.file_bytes)
        return fail_refused(x, given, "exceeds the limit on sizes", err);
    if (fs_join(full, err, x->dir, name))
        return -1;
    return type == AE_IFDIR ? fs_mkdir_p(full, 0700, err) : extract_file(x, a, name, full, err);
}

static int extract_all(struct tar_extractor *x, struct archive *a, struct err *err)
{
    for (;;) {
        struct archive_entry *e;
        int rc = archive_read_next_header(a, &e);
        if (rc == ARCHIVE_EOF)
            return 0;
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) {
            const char *text = archive_error_string(a);
            return err_set(err, ERR_NODE, "%s: what the node sent is not a readable tar stream: %s", x->dir,
                           text ? text : "?");
        }
        if (extract_entry(x, a, e, err))
            return -1;
    }
}

static la_ssize_t read_spooled(struct archive *a, void *arg, const void **data)
{
    struct tar_extractor *x = arg;
    ssize_t n = spool_take(&x->spool, data);
    if (n < 0) {
        archive_set_error(a, errno, "cannot read it again");
        return ARCHIVE_FATAL;
    }
    return n;
}

static int extract_spooled(struct tar_extractor *x, struct err *err)
{
    struct archive *a = archive_read_new();
    if (!a)
        return err_set(err, ERR_INTERNAL, "%s: libarchive cannot begin", x->dir);
    int rc = -1;
    if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
        archive_read_open(a, x, NULL, read_spooled, NULL) != ARCHIVE_OK)
        err_set(err, ERR_NODE, "%s: what the node sent is not a tar stream", x->dir);
    else
        rc = extract_all(x, a, err);
    archive_read_free(a);
    return rc;
}

static void *extract_thread(void *arg)
{
    struct tar_extractor *x = arg;
    struct err err = {0};
    sigset_t all;
    sigfillset(&all); /* signals are handled by the other threads */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    int rc = extract_spooled(x, &err);
    pthread_mutex_lock(&x->lock);
    x->failed = rc != 0;
    x->err = err;
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

int tar_extractor_finish(struct tar_extractor *x, struct err *err)
{
    int rc = check_end(x, err);
    join_thread(x, rc != 0);
    if (rc == 0 && x->failed) {
        *err = x->err;
        rc = -1;
    }
    x->whole = rc == 0;
    return rc;
}
