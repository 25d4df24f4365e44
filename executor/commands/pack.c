#include "executor/commands/pack.h"

#include "executor/bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, PIECE = 64 << 10 };

struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
        version[2], owner[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a tar header is one block");

static int put_name(struct ustar *h, const char *path)
{
    size_t len = strlen(path);
    if (len <= sizeof h->name) {
        memcpy(h->name, path, len);
        return 0;
    }
    /* Split at the first '/' that leaves a name that fits. */
    for (size_t cut = len - sizeof h->name - 1; cut < len && cut <= sizeof h->prefix; cut++) {
        if (path[cut] != '/')
            continue;
        memcpy(h->prefix, path, cut);
        memcpy(h->name, path + cut + 1, len - cut - 1);
        return 0;
    }
    return -1;
}

static void put_octal(char *out, size_t size, unsigned long long value)
{
    for (size_t i = size - 1; i-- > 0; value /= 8)
        out[i] = (char)('0' + value % 8);
    out[size - 1] = '\0';
}

static int make_header(struct ustar *h, const char *path, const struct stat *st)
{
    unsigned sum = 0;
    *h = (struct ustar){.type = '0', .magic = "ustar", .version = {'0', '0'}};
    if (put_name(h, path) != 0)
        return -1;
    put_octal(h->mode, sizeof h->mode, 0600);
    put_octal(h->uid, sizeof h->uid, 0);
    put_octal(h->gid, sizeof h->gid, 0);
    put_octal(h->size, sizeof h->size, (unsigned long long)st->st_size);
    put_octal(h->mtime, sizeof h->mtime, (unsigned long long)st->st_mtime);
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < BLOCK; i++)
        sum += ((const unsigned char *)h)[i];
    put_octal(h->checksum, sizeof h->checksum - 1, sum);
    return 0;
}

/* Exactly size bytes: a file that has shrunk is padded with zeroes. */
static int copy_contents(int from, int to, size_t size)
{
    char data[PIECE];
    while (size > 0) {
        size_t want = size < sizeof data ? size : sizeof data;
        ssize_t n = read(from, data, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            memset(data, 0, want);
        size_t len = n > 0 ? (size_t)n : want;
        if (fs_write_all(to, data, len) != 0)
            return -1;
        size -= len;
    }
    return 0;
}

static int pack_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    static const char zeroes[BLOCK];
    const int *out = arg;
    struct ustar header;
    struct stat st;
    int fd = open(fullpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return 0; /* a live run has replaced it */
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", fullpath);
    int rc = fstat(fd, &st) == 0 && make_header(&header, relpath, &st) == 0
                 ? 0
                 : err_set(err, ERR_INPUT, "%s: the path is too long for a tar stream", relpath);
    size_t rest = (size_t)st.st_size % BLOCK;
    if (rc == 0 && (fs_write_all(*out, &header, sizeof header) != 0 ||
                    copy_contents(fd, *out, (size_t)st.st_size) != 0 ||
                    fs_write_all(*out, zeroes, rest ? BLOCK - rest : 0) != 0))
        rc = err_set_errno(err, ERR_NODE, errno, "cannot write the tar stream");
    close(fd);
    return rc;
}

int pack(const struct layout *layout, const char *run_id, int out_fd, struct err *err)
{
    static const char end[2 * BLOCK];
    char dir[FS_PATH_MAX];
    if (layout_run(layout, dir, run_id, err) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, layout->workdir);
    if (bundle_walk(dir, pack_file, &out_fd, err) != 0)
        return -1;
    return fs_write_all(out_fd, end, sizeof end) == 0
               ? 0
               : err_set_errno(err, ERR_NODE, errno, "cannot write the tar stream");
}
