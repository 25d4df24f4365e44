#include "executor/workdir/seal.h"

#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SEAL_MAX = 256 << 20, HEAD_MAX = 160, HASHED_MAX = 64 << 20 };

static const char first_line[] = "kernsweep.seal/2\n";

/* What stat() says of a file; a size of -1: it is no regular file. */
struct look {
    long long size;
    struct timespec written, changed;
};

static struct look look_at(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return (struct look){.size = -1};
    return (struct look){.size = st.st_size, .written = st.st_mtim, .changed = st.st_ctim};
}

/* Python writes it wherever it may, with what it would compile again anyway. */
static bool is_by_the_way(const char *relpath)
{
    return strncmp(relpath, "__pycache__/", 12) == 0 || strstr(relpath, "/__pycache__/");
}

struct listing {
    struct buf text;
    const char *left_out; /* NULL: nothing */
    uint64_t bytes;
};

/* "<size> <written> <changed> <sha256 or -> <path>". A name with a line break cannot be listed; it is left
 * unwatched. */
static int add_line(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct listing *l = arg;
    (void)err;
    char hex[SHA256_HEX_LEN + 1] = "-";
    if (strchr(relpath, '\n') || is_by_the_way(relpath) || (l->left_out && strcmp(relpath, l->left_out) == 0))
        return 0;
    struct look at = look_at(fullpath);
    if (at.size > HASHED_MAX ||
        sha256_of_file(fullpath, HASHED_MAX, hex, NULL, NULL) != 0) /* too large, or not readable */
        snprintf(hex, sizeof hex, "-");
    l->bytes += at.size > 0 ? (uint64_t)at.size : 0;
    buf_printf(&l->text, "%lld %lld.%09ld %lld.%09ld %s %s\n", at.size, (long long)at.written.tv_sec,
               at.written.tv_nsec, (long long)at.changed.tv_sec, at.changed.tv_nsec, hex, relpath);
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

int seal_write(const char *dir, const char *path, const char *name, uint64_t *bytes, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    struct listing l = {.left_out = name};
    buf_init(&l.text, SEAL_MAX);
    buf_puts(&l.text, first_line);
    int rc = fs_sync_filesystem(dir, err);
    if (rc == 0)
        rc = fs_walk_rest(dir, add_line, leave_out, &l, err);
    if (rc == 0) {
        hash_of(buf_str(&l.text), l.text.len, hex);
        buf_printf(&l.text, "sha256 %s\n", hex);
        rc = buf_ok(&l.text) ? fs_write_file(path, buf_str(&l.text), l.text.len, 0600, err)
                             : err_set(err, ERR_STORAGE, "%s: too many files to seal", dir);
    }
    if (bytes)
        *bytes = l.bytes;
    buf_release(&l.text);
    return rc;
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

struct sealed {
    struct look look;
    char sha256[SHA256_HEX_LEN + 1];
    const char *name;
};

static bool parse_line(char *line, struct sealed *out)
{
    long long written, changed;
    int at = 0;
    if (sscanf(line, "%lld %lld.%9ld %lld.%9ld %64s%n", &out->look.size, &written, &out->look.written.tv_nsec,
               &changed, &out->look.changed.tv_nsec, out->sha256, &at) != 6 ||
        at == 0 || line[at] != ' ')
        return false;
    out->look.written.tv_sec = (time_t)written;
    out->look.changed.tv_sec = (time_t)changed;
    out->name = line + at + 1;
    return true;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_contents(const char *path, const char *sha256)
{
    char hex[SHA256_HEX_LEN + 1];
    return sha256_of_file(path, HASHED_MAX, hex, NULL, NULL) == 0 && strcmp(hex, sha256) == 0;
}

static bool is_intact(const char *path, const struct sealed *s, const struct look *now)
{
    if (now->size != s->look.size)
        return false;
    if (same_time(now->written, s->look.written) && same_time(now->changed, s->look.changed))
        return true;
    return sha256_is_hex(s->sha256) && same_contents(path, s->sha256);
}

struct inspection {
    const char *dir;
    char *rest; /* of the list, for the walk */
    seal_fn *fn;
    void *arg;
    bool broken;
};

static double seconds(struct timespec t)
{
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of what is gone, the nearest folder that is left knows. */
double seal_time_of_going(const char *path)
{
    char dir[FS_PATH_MAX], below[FS_PATH_MAX];
    struct stat st;
    snprintf(below, sizeof below, "%s", path);
    for (;;) {
        fs_parent(below, dir);
        if (lstat(dir, &st) == 0)
            return seconds(st.st_ctim);
        if (strcmp(dir, below) == 0)
            return 0;
        snprintf(below, sizeof below, "%s", dir);
    }
}

static void tell(struct inspection *i, const char *name, const char *what, double real_s)
{
    struct seal_change c = {.real_s = real_s, .added = strcmp(what, "was added") == 0};
    char shown[SEAL_REASON_MAX - 32]; /* names may hold any bytes */
    i->broken = true;
    text_printable_fixed(shown, sizeof shown, name, strlen(name));
    snprintf(c.what, sizeof c.what, "%s %s", shown, what);
    if (i->fn)
        i->fn(i->arg, &c);
}

static void inspect_line(struct inspection *i, char *line)
{
    char path[FS_PATH_MAX];
    struct sealed s;
    if (!parse_line(line, &s) || fs_join(path, NULL, i->dir, s.name) != 0) {
        tell(i, "the seal", "is damaged", 0);
        return;
    }
    struct look now = look_at(path);
    if (now.size < 0)
        tell(i, s.name, "is gone", seal_time_of_going(path));
    else if (!is_intact(path, &s, &now))
        tell(i, s.name, "has changed", seconds(now.changed));
}

/* List and walk have the same order. */
static int look_for_added(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct inspection *i = arg;
    struct sealed s;
    (void)err;
    if (strchr(relpath, '\n') || is_by_the_way(relpath))
        return 0;
    /* Sealed files that come before this one are gone. */
    for (int order = -1; order < 0 && i->rest && *i->rest;) {
        char line[FS_PATH_MAX + HEAD_MAX];
        size_t len = strcspn(i->rest, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, i->rest);
        order = parse_line(line, &s) ? strcmp(s.name, relpath) : -1;
        if (order <= 0)
            i->rest += i->rest[len] ? len + 1 : len;
        if (order == 0)
            return 0;
    }
    tell(i, relpath, "was added", seconds(look_at(fullpath).changed));
    return 0;
}

static int inspect(struct inspection *i, char *list, enum seal_scope scope, struct err *err)
{
    char *copy = scope == SEAL_WHOLE ? strdup(list) : NULL;
    if (scope == SEAL_WHOLE && !copy)
        return err_set(err, ERR_INTERNAL, "no memory to check %s", i->dir);
    for (char *rest = list, *line; (line = strsep(&rest, "\n")) && *line;)
        inspect_line(i, line);
    i->rest = copy;
    int rc = copy ? fs_walk_rest(i->dir, look_for_added, leave_out, i, err) : 0;
    free(copy);
    return rc;
}

int seal_look(const char *dir, const char *path, enum seal_scope scope, seal_fn *fn, void *arg,
              struct err *err)
{
    struct inspection i = {.dir = dir, .fn = fn, .arg = arg};
    struct buf text;
    if (!fs_exists(path))
        return 0;
    buf_init(&text, SEAL_MAX);
    int rc = fs_read_file(path, SEAL_MAX, &text, err);
    size_t len = rc == 0 ? list_length(&text) : 0;
    bool ours = rc == 0 && strncmp(buf_str(&text), first_line, strlen(first_line)) == 0;
    if (rc == 0 && len == 0)
        tell(&i, "the seal", "is damaged", 0);
    else if (ours) {
        text.data[len] = '\0';
        rc = inspect(&i, text.data + strlen(first_line), scope, err);
    }
    buf_release(&text);
    return rc != 0 ? -1 : ours && !i.broken;
}

static void keep_first(void *arg, const struct seal_change *change)
{
    if (!*(char *)arg)
        snprintf(arg, SEAL_REASON_MAX, "%s", change->what);
}

int seal_check(const char *dir, const char *path, enum seal_scope scope, char *why, struct err *err)
{
    *why = '\0';
    return seal_look(dir, path, scope, keep_first, why, err);
}
