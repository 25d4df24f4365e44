#include "executor/workdir/seal.h"

#include "common/base/fs.h"
#include "common/base/sha256.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SEAL_MAX = 64 << 20, HEAD_MAX = 64 };

/* "<size> <seconds>.<nanoseconds>" of a regular file; "gone" for what is none. */
static void describe(const char *path, char *out)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(out, HEAD_MAX, "gone");
        return;
    }
    snprintf(out, HEAD_MAX, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
             st.st_mtim.tv_nsec);
}

/* A name with a line break cannot be listed; it is left unwatched. */
static int add_line(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct buf *text = arg;
    char head[HEAD_MAX];
    (void)err;
    if (strchr(relpath, '\n'))
        return 0;
    describe(fullpath, head);
    buf_printf(text, "%s %s\n", head, relpath);
    return 0;
}

static void hash_of(const char *text, size_t len, char *hex)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, text, len);
    sha256_end(&h, hex);
}

int seal_write(const char *dir, const char *name, struct err *err)
{
    char path[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    struct buf text;
    buf_init(&text, SEAL_MAX);
    int rc = fs_join(path, err, dir, name) != 0 || fs_sync_filesystem(dir, err) != 0 ? -1 : 0;
    if (rc == 0)
        rc = fs_walk(dir, true, add_line, &text, err);
    if (rc == 0) {
        hash_of(buf_str(&text), text.len, hex);
        buf_printf(&text, "sha256 %s\n", hex);
        rc = buf_ok(&text) ? fs_write_file(path, buf_str(&text), text.len, 0600, err)
                           : err_set(err, ERR_STORAGE, "%s: too many files to seal", dir);
    }
    buf_release(&text);
    return rc;
}

/* The length of the list; 0 for what is no seal, or part of one. */
static size_t list_length(const struct buf *text)
{
    static const char mark[] = "sha256 ";
    const size_t tail = strlen(mark) + SHA256_HEX_LEN + 1;
    char hex[SHA256_HEX_LEN + 1];
    if (text->len <= tail || memcmp(text->data + text->len - tail, mark, strlen(mark)) != 0)
        return 0;
    hash_of(text->data, text->len - tail, hex);
    return memcmp(text->data + text->len - SHA256_HEX_LEN - 1, hex, SHA256_HEX_LEN) == 0 ? text->len - tail
                                                                                         : 0;
}

/* line: "<size> <time> <path>". */
static bool is_unchanged(const char *dir, const char *line, char *why)
{
    char path[FS_PATH_MAX], now[HEAD_MAX];
    const char *time = strchr(line, ' '), *name = time ? strchr(time + 1, ' ') : NULL;
    if (!name || fs_join(path, NULL, dir, name + 1) != 0)
        return false;
    describe(path, now);
    if (strlen(now) == (size_t)(name - line) && strncmp(now, line, strlen(now)) == 0)
        return true;
    snprintf(why, SEAL_REASON_MAX, "%.200s %s", name + 1,
             strcmp(now, "gone") == 0 ? "is gone" : "has changed");
    return false;
}

int seal_check(const char *dir, const char *name, char *why, struct err *err)
{
    char path[FS_PATH_MAX];
    struct buf text;
    *why = '\0';
    if (fs_join(path, err, dir, name) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    buf_init(&text, SEAL_MAX);
    int rc = fs_read_file(path, SEAL_MAX, &text, err);
    size_t len = rc == 0 ? list_length(&text) : 0;
    bool intact = len > 0;
    if (rc == 0 && !intact)
        snprintf(why, SEAL_REASON_MAX, "%s is damaged", name);
    if (intact)
        text.data[len] = '\0';
    for (char *rest = intact ? text.data : NULL, *line; intact && (line = strsep(&rest, "\n")) && *line;)
        intact = is_unchanged(dir, line, why);
    buf_release(&text);
    return rc != 0 ? -1 : intact;
}
