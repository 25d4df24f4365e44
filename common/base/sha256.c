#include "common/base/sha256.h"

#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

void sha256_begin(struct sha256 *h)
{
    sha256_init(&h->ctx);
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
    sha256_update(&h->ctx, len, data);
}

void sha256_add_text(struct sha256 *h, const char *text)
{
    const char *s = text ? text : "";
    sha256_add(h, s, strlen(s) + 1);
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

struct file_hash {
    struct sha256 hash;
    size_t size;
};

static int hash_piece(void *arg, const void *data, size_t len, struct err *err)
{
    struct file_hash *f = arg;
    (void)err;
    sha256_add(&f->hash, data, len);
    f->size += len;
    return 0;
}

int sha256_of_file_at(int dirfd, const char *rel, const char *path, size_t max, char *out, size_t *size,
                      struct err *err)
{
    struct file_hash f = {.size = 0};
    int fd = openat(dirfd, rel, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
    sha256_begin(&f.hash);
    if (fs_read_pieces(fd, path, max, hash_piece, &f, err) != 0)
        return -1;
    sha256_end(&f.hash, out);
    if (size)
        *size = f.size;
    return 0;
}

int sha256_of_file(const char *path, size_t max, char *out, size_t *size, struct err *err)
{
    return sha256_of_file_at(AT_FDCWD, path, path, max, out, size, err);
}

bool sha256_is_hex(const char *s)
{
    return strlen(s) == SHA256_HEX_LEN && strspn(s, "0123456789abcdef") == SHA256_HEX_LEN;
}
