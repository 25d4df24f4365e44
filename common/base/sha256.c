#include "common/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sha256_begin(struct sha256 *h)
{
    sha256_init(&h->ctx);
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
    sha256_update(&h->ctx, len, data);
}

void sha256_end(struct sha256 *h, char *out)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t raw[SHA256_DIGEST_SIZE];
    sha256_digest(&h->ctx, sizeof raw, raw);
    for (size_t i = 0; i < sizeof raw; i++) {
        out[2 * i] = digits[raw[i] >> 4];
        out[2 * i + 1] = digits[raw[i] & 15];
    }
    out[SHA256_HEX_LEN] = '\0';
}

void sha256_of(const void *data, size_t len, char *out)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, data, len);
    sha256_end(&h, out);
}

/* expected: the file's size a moment ago; see read_fd() of fs.c. */
static int hash_fd(int fd, const char *path, off_t expected, size_t max, char *out, size_t *size,
                   struct err *err)
{
    char data[1 << 16];
    struct sha256 h;
    size_t total = 0;
    sha256_begin(&h);
    for (;;) {
        ssize_t n = read(fd, data, sizeof data);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", path);
        total += (size_t)n;
        if (total > max)
            return err_set(err, ERR_INPUT, "%s: larger than the limit of %zu bytes", path, max);
        sha256_add(&h, data, (size_t)n);
        if (n == 0 || ((size_t)n < sizeof data && (off_t)total == expected))
            break;
    }
    sha256_end(&h, out);
    if (size)
        *size = total;
    return 0;
}

int sha256_of_file_at(int dirfd, const char *rel, const char *path, size_t max, char *out, size_t *size,
                      struct err *err)
{
    int fd = openat(dirfd, rel, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
    struct stat st;
    int rc = -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        err_set(err, ERR_INPUT, "%s: not a regular file", path);
    else
        rc = hash_fd(fd, path, st.st_size, max, out, size, err);
    close(fd);
    return rc;
}

int sha256_of_file(const char *path, size_t max, char *out, size_t *size, struct err *err)
{
    return sha256_of_file_at(AT_FDCWD, path, path, max, out, size, err);
}

bool sha256_is_hex(const char *s)
{
    return strlen(s) == SHA256_HEX_LEN && strspn(s, "0123456789abcdef") == SHA256_HEX_LEN;
}
