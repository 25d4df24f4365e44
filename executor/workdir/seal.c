#include "executor/workdir/seal.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "executor/workdir/seal_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Of links, only what they say counts. */
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

/* What cannot be visited, an odd folder that a build left for example, is left unwatched. */
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
    return fs_write_file(path, buf_str(&l.text), l.text.len, 0600, err);
}

/* The length of the list; 0 for what is no seal, or part of one. */
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

/* False at the end of the list. */
static bool next_entry(const struct inspection *i, struct seal_entry *out)
{
    return *i->rest && seal_entry_parse(out, i->rest);
}

static void forget_entry(struct inspection *i)
{
    i->rest += strlen(i->rest) + 1;
}

/* List and walk have the same order: what is sealed and comes before this entry is gone. */
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

/* list: a string for each line, and an empty one. */
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

/* 1, 0: there is none; -1. */
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
