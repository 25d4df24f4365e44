#include "executor/workdir/seal.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One line of a seal: what stat() said of a file, and the hash of what was in it; of a link, the hash of its
 * text, and what stat() said of the file that it leads to, if that is outside of the folder: a file of the
 * folder has its own line. */
enum { SEAL_FILE = 'f', SEAL_LINK = 'l' };

struct seal_entry {
    char kind;
    long long size; /* -1: there is no such file; of a link: nor one outside */
    struct timespec written, changed;
    char sha256[SHA256_HEX_LEN + 1]; /* "-": too large, or not readable */
    const char *name;
};

enum { HASHED_MAX = 64 << 20 };

static bool is_by_the_way(const char *relpath)
{
    const char *at = strstr(relpath, "__pycache__/");
    return at && (at == relpath || at[-1] == '/');
}

/* Whether the seal lists an entry: files and links, except what Python writes by the way, and names with a
 * line break, which no list can have. */
static bool seal_entry_counts(const struct fs_entry *e)
{
    return (e->type == DT_REG || e->type == DT_LNK) && !strchr(e->relpath, '\n') &&
           !is_by_the_way(e->relpath);
}

/* Whether the error may be gone at the next look, so that it says nothing of what could not be read. */
static bool seal_error_passes(int error)
{
    static const int passing[] = {EIO,    EINTR,   EAGAIN,    ENOMEM,    ENFILE,      EMFILE,
                                  ESTALE, ENOBUFS, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == passing[i])
            return true;
    return false;
}

/* Returns what seal_entry_holds() does after a call that failed. */
static int unread(void)
{
    return seal_error_passes(errno) ? -1 : 0;
}

/* Returns -1 with errno, and "-" in hex, if the link cannot be read. */
static int hash_of_text(const struct fs_entry *e, char *hex)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(e->dirfd, e->name, text, sizeof text);
    snprintf(hex, SHA256_HEX_LEN + 1, "-");
    if (n >= 0)
        sha256_of(text, (size_t)n, hex);
    return n >= 0 ? 0 : -1;
}

/* Does the same with a file's contents; errno may be 0. */
static int hash_of_contents(const struct fs_entry *e, char *hex)
{
    errno = 0;
    if (sha256_of_file_at(e->dirfd, e->name, e->fullpath, HASHED_MAX, hex, NULL, NULL) == 0)
        return 0;
    snprintf(hex, SHA256_HEX_LEN + 1, "-");
    return -1;
}

static bool leads_outside(const struct fs_entry *e, const char *root)
{
    char target[PATH_MAX];
    size_t len = strlen(root);
    return realpath(e->fullpath, target) && (strncmp(target, root, len) != 0 || target[len] != '/');
}

static void take_stat(struct seal_entry *out, const struct stat *st)
{
    out->size = st->st_size;
    out->written = st->st_mtim;
    out->changed = st->st_ctim;
}

/* root: the folder's real path. */
static void seal_entry_take(struct seal_entry *out, const struct fs_entry *e, const char *root)
{
    struct stat st;
    bool link = e->type == DT_LNK;
    *out = (struct seal_entry){.kind = link ? SEAL_LINK : SEAL_FILE, .size = -1, .name = e->relpath};
    if ((!link || leads_outside(e, root)) &&
        fstatat(e->dirfd, e->name, &st, link ? 0 : AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
        take_stat(out, &st);
    if (link)
        (void)hash_of_text(e, out->sha256);
    else if (out->size > HASHED_MAX)
        snprintf(out->sha256, sizeof out->sha256, "-");
    else
        (void)hash_of_contents(e, out->sha256);
}

static void seal_entry_print(const struct seal_entry *s, struct buf *out)
{
    buf_printf(out, "%c %lld %lld.%09ld %lld.%09ld %s %s\n", s->kind, s->size, (long long)s->written.tv_sec,
               s->written.tv_nsec, (long long)s->changed.tv_sec, s->changed.tv_nsec, s->sha256, s->name);
}

/* This is some ten times as fast as sscanf(), which took most of the time of a look. */
static bool read_number(const char **at, long long *out, char end)
{
    char *rest;
    if (**at != '-' && (**at < '0' || **at > '9'))
        return false;
    *out = strtoll(*at, &rest, 10);
    bool good = *rest == end;
    *at = rest + good;
    return good;
}

static bool read_time(const char **at, struct timespec *out)
{
    long long seconds, nanoseconds;
    if (!read_number(at, &seconds, '.') || !read_number(at, &nanoseconds, ' '))
        return false;
    *out = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds};
    return true;
}

/* line: without its end; name points into it. */
static bool seal_entry_parse(struct seal_entry *out, const char *line)
{
    const char *at = line + 2;
    if ((*line != SEAL_FILE && *line != SEAL_LINK) || line[1] != ' ' || !read_number(&at, &out->size, ' ') ||
        !read_time(&at, &out->written) || !read_time(&at, &out->changed))
        return false;
    size_t len = strcspn(at, " ");
    if (len > SHA256_HEX_LEN || at[len] != ' ')
        return false;
    memcpy(out->sha256, at, len);
    out->sha256[len] = '\0';
    out->kind = *line;
    out->name = at + len + 1;
    return true;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A file outside has other users, too, so only what changes its contents matters. */
static int same_outside(const struct seal_entry *s, const struct fs_entry *e)
{
    struct stat st;
    if (s->size < 0)
        return 1;
    if (fstatat(e->dirfd, e->name, &st, 0) != 0)
        return unread();
    if (!S_ISREG(st.st_mode))
        return 0;
    return st.st_size == s->size && same_time(st.st_mtim, s->written);
}

static int same_link(const struct seal_entry *s, const struct fs_entry *e)
{
    char hex[SHA256_HEX_LEN + 1];
    if (hash_of_text(e, hex) != 0)
        return unread();
    return strcmp(hex, s->sha256) == 0 ? same_outside(s, e) : 0;
}

static int same_contents(const struct seal_entry *s, const struct fs_entry *e)
{
    char hex[SHA256_HEX_LEN + 1];
    if (!sha256_is_hex(s->sha256))
        return 0;
    if (hash_of_contents(e, hex) != 0)
        return unread();
    return strcmp(hex, s->sha256) == 0;
}

/* Returns 1 if the entry is what it was when it was sealed, 0 if it is not, -1 with errno if it cannot be
 * read for a passing reason. */
static int seal_entry_holds(const struct seal_entry *s, const struct fs_entry *e)
{
    struct stat st;
    if (fstatat(e->dirfd, e->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return unread();
    if (S_ISLNK(st.st_mode))
        return s->kind == SEAL_LINK ? same_link(s, e) : 0;
    if (!S_ISREG(st.st_mode) || s->kind != SEAL_FILE || st.st_size != s->size)
        return 0;
    if (same_time(st.st_mtim, s->written) && same_time(st.st_ctim, s->changed))
        return 1;
    return same_contents(s, e);
}

enum { SEAL_MAX = 256 << 20 };

static const char first_line[] = "kernsweep.seal/3\n";

struct listing {
    struct buf text;
    char root[PATH_MAX];  /* real path; "": unknown */
    const char *left_out; /* NULL: nothing */
};

static void listing_release(struct listing *l)
{
    buf_release(&l->text);
}

static int add_line(const struct fs_entry *e, void *arg, struct err *err)
{
    struct listing *l = arg;
    struct seal_entry s;
    (void)err;
    if (!seal_entry_counts(e) || (l->left_out && strcmp(e->relpath, l->left_out) == 0))
        return 0;
    seal_entry_take(&s, e, l->root);
    seal_entry_print(&s, &l->text);
    return 0;
}

/* What cannot be visited, such as an odd folder that a build left, is not watched. */
static void leave_out(const char *relpath, const char *why, void *arg)
{
    (void)relpath;
    (void)why;
    (void)arg;
}

static void hash_of(const char *text, size_t len, char *hex)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, text, len);
    sha256_end(&h, hex);
}

/* A rename replaces all but a folder. */
static void make_room(const char *path)
{
    struct err ignored;
    if (fs_is_dir(path))
        (void)fs_remove_tree(path, &ignored);
}

int seal_write(const char *dir, const char *path, const char *name, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    AUTO(listing_release) struct listing l = {.text = {.max = SEAL_MAX}, .left_out = name};
    buf_puts(&l.text, first_line);
    if (!realpath(dir, l.root))
        *l.root = '\0';
    if (fs_sync_filesystem(dir, err) != 0 || fs_walk_entries(dir, add_line, leave_out, &l, err) != 0)
        return -1;
    hash_of(buf_str(&l.text), l.text.len, hex);
    buf_printf(&l.text, "sha256 %s\n", hex);
    if (!buf_ok(&l.text))
        return err_set(err, ERR_STORAGE, "%s: too many files to seal", dir);
    make_room(path);
    return fs_write_file(path, buf_str(&l.text), l.text.len, 0600, err);
}

/* Returns the length of the list, or 0 for what is no seal, or part of one. */
static size_t list_length(const struct buf *text)
{
    static const char mark[] = "sha256 ";
    const size_t tail = strlen(mark) + SHA256_HEX_LEN + 1;
    char hex[SHA256_HEX_LEN + 1];
    if (text->len <= tail + strlen(first_line) ||
        memcmp(text->data + text->len - tail, mark, strlen(mark)) != 0)
        return 0;
    hash_of(text->data, text->len - tail, hex);
    return memcmp(text->data + text->len - SHA256_HEX_LEN - 1, hex, SHA256_HEX_LEN) == 0 ? text->len - tail
                                                                                         : 0;
}

struct inspection {
    const char *dir, *path; /* of the seal */
    enum seal_scope scope;
    char *rest; /* of the list: what the walk has not come to */
    seal_fn *fn;
    void *arg;
    bool broken, unread;
};

static void pass_on(struct inspection *i, struct seal_change *c)
{
    char shown[SEAL_REASON_MAX / 2]; /* names may hold any bytes */
    text_printable_fixed(shown, sizeof shown, c->name, strlen(c->name));
    snprintf(c->what, sizeof c->what, "%s %.100s", shown, c->how);
    if (i->fn)
        i->fn(i->arg, c);
}

static void tell(struct inspection *i, const char *name, const char *what)
{
    struct seal_change c = {.name = name, .how = what, .added = strcmp(what, "was added") == 0};
    i->broken = true;
    pass_on(i, &c);
}

static void tell_unread(struct inspection *i, const char *name, int error)
{
    char how[100];
    struct seal_change c = {.name = name, .how = how, .unread = true};
    snprintf(how, sizeof how, "could not be read (%.60s)", strerror(error));
    i->unread = true;
    pass_on(i, &c);
}

/* What was not visited because its folder could not be read is not gone. */
static void tell_gone(struct inspection *i, const char *name)
{
    char path[FS_PATH_MAX];
    struct stat st;
    bool named = fs_join(path, NULL, i->dir, name) == 0;
    int error = named && lstat(path, &st) != 0 ? errno : 0;
    if (named && seal_error_passes(error))
        tell_unread(i, name, error);
    else if (!named || error || !i->unread)
        tell(i, name, "is gone");
}

static void note_unvisited(const char *relpath, const char *why, void *arg)
{
    int error = errno;
    (void)why;
    if (seal_error_passes(error))
        tell_unread(arg, relpath, error);
}

/* Returns false at the end of the list, or where it is damaged. */
static bool next_entry(const struct inspection *i, struct seal_entry *out)
{
    return *i->rest && seal_entry_parse(out, i->rest);
}

static void forget_entry(struct inspection *i)
{
    i->rest += strlen(i->rest) + 1;
}

/* List and walk have the same order, so what is sealed and comes before this entry is gone. */
static int inspect_entry(const struct fs_entry *e, void *arg, struct err *err)
{
    struct inspection *i = arg;
    struct seal_entry s;
    int order = 1, holds;
    (void)err;
    if (!seal_entry_counts(e))
        return 0;
    while (next_entry(i, &s) && (order = strcmp(s.name, e->relpath)) < 0) {
        tell_gone(i, s.name);
        forget_entry(i);
    }
    if (order == 0) {
        holds = seal_entry_holds(&s, e);
        if (holds < 0)
            tell_unread(i, s.name, errno);
        else if (!holds)
            tell(i, s.name, "has changed");
        forget_entry(i);
    } else if (i->scope == SEAL_WHOLE)
        tell(i, e->relpath, "was added");
    return 0;
}

/* Makes a string of each line of the list; an empty one follows the last. */
static int inspect(struct inspection *i, char *list, size_t len, struct err *err)
{
    struct seal_entry s;
    for (char *at = list; (at = memchr(at, '\n', len - (size_t)(at - list))); at++)
        *at = '\0';
    i->rest = list;
    int rc = fs_walk_entries(i->dir, inspect_entry, note_unvisited, i, err);
    if (rc != 0 && seal_error_passes(errno))
        tell_unread(i, "its folder", errno);
    for (; rc == 0 && next_entry(i, &s); forget_entry(i))
        tell_gone(i, s.name);
    if (rc == 0 && *i->rest)
        tell(i, "the seal", "is damaged");
    return rc;
}

/* Returns 1, 0 if there is none, or -1. */
static int read_seal(struct inspection *i, struct buf *text, struct err *err)
{
    struct stat st;
    errno = 0;
    bool there = lstat(i->path, &st) == 0;
    if (!there && !seal_error_passes(errno))
        return 0;
    if (!there)
        err_set_errno(err, ERR_STORAGE, errno, "%s: cannot inspect it", i->path);
    else if (fs_read_file(i->path, SEAL_MAX, text, err) == 0)
        return 1;
    if (seal_error_passes(errno))
        tell_unread(i, "the seal", errno);
    return -1;
}

int seal_look(const char *dir, const char *path, enum seal_scope scope, seal_fn *fn, void *arg,
              struct err *err)
{
    struct inspection i = {.dir = dir, .path = path, .scope = scope, .fn = fn, .arg = arg};
    AUTO(buf_release) struct buf text = {.max = SEAL_MAX};
    int rc = read_seal(&i, &text, err);
    size_t len = rc == 1 ? list_length(&text) : 0;
    bool ours = rc == 1 && strncmp(buf_str(&text), first_line, strlen(first_line)) == 0;
    if (rc == 1 && len == 0)
        tell(&i, "the seal", "is damaged");
    else if (ours) {
        text.data[len] = '\0';
        rc = inspect(&i, text.data + strlen(first_line), len - strlen(first_line), err);
    }
    if (rc >= 0 && i.unread && !i.broken)
        return err_set(err, ERR_STORAGE, "%s: some of it could not be read; try again", dir);
    return rc < 0 ? -1 : ours && !i.broken;
}

void seal_keep_first(void *arg, const struct seal_change *change)
{
    if (!*(char *)arg)
        snprintf(arg, SEAL_REASON_MAX, "%s", change->what);
}

int seal_check(const char *dir, const char *path, enum seal_scope scope, char *why, struct err *err)
{
    *why = '\0';
    return seal_look(dir, path, scope, seal_keep_first, why, err);
}
