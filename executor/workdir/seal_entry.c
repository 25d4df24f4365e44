#include "executor/workdir/seal_entry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASHED_MAX = 64 << 20 };

static bool is_by_the_way(const char *relpath)
{
    const char *at = strstr(relpath, "__pycache__/");
    return at && (at == relpath || at[-1] == '/');
}

bool seal_entry_counts(const struct fs_entry *e)
{
    return (e->type == DT_REG || e->type == DT_LNK) && !strchr(e->relpath, '\n') &&
           !is_by_the_way(e->relpath);
}

bool seal_error_passes(int error)
{
    static const int passing[] = {EIO,    EINTR,   EAGAIN,    ENOMEM,    ENFILE,      EMFILE,
                                  ESTALE, ENOBUFS, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == passing[i])
            return true;
    return false;
}

/* Of a call that failed, as seal_entry_holds(). */
static int unread(void)
{
    return seal_error_passes(errno) ? -1 : 0;
}

/* -1 with errno, and "-". */
static int hash_of_text(const struct fs_entry *e, char *hex)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(e->dirfd, e->name, text, sizeof text);
    snprintf(hex, SHA256_HEX_LEN + 1, "-");
    if (n >= 0)
        sha256_of(text, (size_t)n, hex);
    return n >= 0 ? 0 : -1;
}

/* The same; errno may be 0. */
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

void seal_entry_take(struct seal_entry *out, const struct fs_entry *e, const char *root)
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

void seal_entry_print(const struct seal_entry *s, struct buf *out)
{
    buf_printf(out, "%c %lld %lld.%09ld %lld.%09ld %s %s\n", s->kind, s->size, (long long)s->written.tv_sec,
               s->written.tv_nsec, (long long)s->changed.tv_sec, s->changed.tv_nsec, s->sha256, s->name);
}

/* Some ten times as fast as sscanf(), which took most of the time of a look. */
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

bool seal_entry_parse(struct seal_entry *out, const char *line)
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

/* What is outside has other users, too: only what changes its contents matters. */
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

int seal_entry_holds(const struct seal_entry *s, const struct fs_entry *e)
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
