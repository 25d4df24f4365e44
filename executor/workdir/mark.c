#include "executor/workdir/mark.h"

#include "common/base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, TOKEN_LEN = 2 * TOKEN_BYTES };

static const char file_name[] = ".mark";
static const char hex[] = "0123456789abcdef";

static bool read_token(const char *path, char token[TOKEN_LEN + 1])
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, token, TOKEN_LEN) : -1;
    token[TOKEN_LEN] = '\0';
    return n == TOKEN_LEN && strspn(token, hex) == TOKEN_LEN;
}

static int make_token(char token[TOKEN_LEN + 1], struct err *err)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot get random bytes");
    for (int i = 0; i < TOKEN_BYTES; i++) {
        token[2 * i] = hex[bytes[i] >> 4];
        token[2 * i + 1] = hex[bytes[i] & 15];
    }
    token[TOKEN_LEN] = '\0';
    return 0;
}

/* When two executors make it at once, the first one's stays. */
static int write_token(const char *path, struct err *err)
{
    char token[TOKEN_LEN + 1], own[FS_PATH_MAX];
    if (make_token(token, err) != 0)
        return -1;
    int n = snprintf(own, sizeof own, "%s.%.8s", path, token);
    if (n < 0 || n >= (int)sizeof own)
        return err_set(err, ERR_INPUT, "%s: path too long", path);
    if (fs_write_file(own, token, TOKEN_LEN, 0600, err) != 0)
        return -1;
    bool there = link(own, path) == 0 || errno == EEXIST;
    if (!there) /* a file system without hard links */
        return fs_rename(own, path, err);
    unlink(own);
    return 0;
}

static bool compose(const struct layout *l, const char *path, char *out)
{
    char token[TOKEN_LEN + 1];
    struct stat st;
    if (!read_token(path, token) || stat(l->workdir, &st) != 0)
        return false;
    snprintf(out, WORKDIR_MARK_MAX, "%s:%jx:%jx", token, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return true;
}

bool mark_read(const struct layout *l, char *out)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, l->workdir, file_name) == 0 && compose(l, path, out);
}

int mark_make(const struct layout *l, char *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, l->workdir, file_name) != 0)
        return -1;
    if (compose(l, path, out))
        return 0;
    /* What is there and is no mark was cut off by a crash, or put there by a test. */
    if (fs_remove_tree(path, err) != 0 || write_token(path, err) != 0)
        return err_wrap(err, "the workdir's mark");
    return compose(l, path, out) ? 0 : err_set(err, ERR_STORAGE, "%s: not a mark: remove the file", path);
}
