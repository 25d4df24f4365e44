#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/bundle/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, PIECE = 64 << 10, MANIFEST_MAX = 64 << 20 };

/* Where the tar stream goes; its first bytes may have arrived before. */
struct tar_out {
    int fd;
    uint64_t skip;
};

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

static void finish_header(struct ustar *h, char type, unsigned long long size, unsigned long long mtime)
{
    unsigned sum = 0;
    h->type = type;
    memcpy(h->magic, "ustar", sizeof h->magic);
    memset(h->version, '0', sizeof h->version);
    put_octal(h->mode, sizeof h->mode, 0600);
    put_octal(h->uid, sizeof h->uid, 0);
    put_octal(h->gid, sizeof h->gid, 0);
    put_octal(h->size, sizeof h->size, size);
    put_octal(h->mtime, sizeof h->mtime, mtime);
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < BLOCK; i++)
        sum += ((const unsigned char *)h)[i];
    put_octal(h->checksum, sizeof h->checksum - 1, sum);
}

static int put(struct tar_out *out, const void *data, size_t size)
{
    size_t known = out->skip < size ? (size_t)out->skip : size;
    out->skip -= known;
    return fs_write_all(out->fd, (const char *)data + known, size - known);
}

static int put_padding(struct tar_out *out, size_t size)
{
    static const char zeroes[BLOCK];
    size_t rest = size % BLOCK;
    return put(out, zeroes, rest ? BLOCK - rest : 0);
}

/* A record of pax begins with its own length, as text. */
static int put_long_name(struct tar_out *out, const char *path)
{
    struct ustar h = {.name = "path"};
    char record[FS_PATH_MAX + 32];
    size_t body = strlen(" path=\n") + strlen(path), len = body + 1, before = 0;
    while (len != before) {
        before = len;
        len = body + (size_t)snprintf(NULL, 0, "%zu", len);
    }
    int n = snprintf(record, sizeof record, "%zu path=%s\n", len, path);
    if (n < 0 || (size_t)n >= sizeof record)
        return -1;
    finish_header(&h, 'x', len, 0);
    return put(out, &h, sizeof h) != 0 || put(out, record, len) != 0 ? -1 : put_padding(out, len);
}

static int put_header(struct tar_out *out, const char *path, const struct stat *st)
{
    struct ustar h = {0};
    if (put_name(&h, path) != 0 && put_long_name(out, path) != 0)
        return -1;
    if (!*h.name)
        snprintf(h.name, sizeof h.name, "long-name"); /* replaced by the record before */
    finish_header(&h, '0', (unsigned long long)st->st_size, (unsigned long long)st->st_mtime);
    return put(out, &h, sizeof h);
}

/* Copies exactly size bytes: a file that has shrunk is padded with zeroes. */
static int copy_contents(int from, struct tar_out *out, size_t size)
{
    char data[PIECE];
    size_t known = out->skip < size ? (size_t)out->skip : size;
    if (lseek(from, (off_t)known, SEEK_SET) < 0)
        return -1;
    out->skip -= known;
    size -= known;
    while (size > 0) {
        size_t want = size < sizeof data ? size : sizeof data;
        ssize_t n = read(from, data, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            memset(data, 0, want);
        size_t len = n > 0 ? (size_t)n : want;
        if (put(out, data, len) != 0)
            return -1;
        size -= len;
    }
    return 0;
}

static int pack_open_file(struct tar_out *out, const char *relpath, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || put_header(out, relpath, &st) != 0 ||
        copy_contents(fd, out, (size_t)st.st_size) != 0)
        return -1;
    return put_padding(out, (size_t)st.st_size);
}

static int pack_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    int fd = open(fullpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0; /* a live run has replaced it, or it may not be read: the manifest does not list it */
    int rc = pack_open_file(arg, relpath, fd);
    if (rc != 0)
        err_set_errno(err, ERR_NODE, errno, "cannot write the tar stream");
    close(fd);
    return rc;
}

/* A closed run is what its manifest lists, whatever has come to its folder since. */
static int pack_listed(const char *dir, const json_t *manifest, struct tar_out *out, struct err *err)
{
    size_t i;
    json_t *file;
    char full[FS_PATH_MAX];
    json_array_foreach(json_object_get(manifest, "files"), i, file)
    {
        const char *path = json_string_value(json_object_get(file, "path"));
        if (!path || !fs_safe_relpath(path))
            return err_set(err, ERR_STORAGE, "%s/" RUN_MANIFEST ": names no file at $.files[%zu]", dir, i);
        if (fs_join(full, err, dir, path) != 0 || pack_file(path, full, out, err) != 0)
            return -1;
    }
    return fs_join(full, err, dir, RUN_MANIFEST) != 0 ? -1 : pack_file(RUN_MANIFEST, full, out, err);
}

static int pack_own_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    return contents_is_foreign(relpath) ? 0 : pack_file(relpath, fullpath, arg, err);
}

/* What the tests of an unfinished run left has not been searched for secrets. */
static int pack_unfinished(const char *dir, struct tar_out *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, dir, RUN_JOB) != 0)
        return -1;
    json_auto_t *job = json_load(path, LIMIT_JSON_BYTES, err);
    bool secrets = !job || json_array_size(json_object_get(job, "secrets")) > 0;
    return contents_walk(dir, secrets ? pack_own_file : pack_file, NULL, out, err);
}

static int pack_run(const char *dir, struct tar_out *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, dir, RUN_MANIFEST) != 0)
        return -1;
    if (!fs_exists(path))
        return pack_unfinished(dir, out, err);
    json_auto_t *manifest = json_load(path, MANIFEST_MAX, err);
    if (!manifest || (out->skip == 0 && manifest_refresh(dir, manifest, err) != 0))
        return -1;
    return pack_listed(dir, manifest, out, err);
}

int pack(const struct layout *layout, const char *run_id, uint64_t offset, int out_fd, struct err *err)
{
    struct tar_out out = {.fd = out_fd, .skip = offset};
    static const char end[2 * BLOCK];
    char dir[FS_PATH_MAX];
    if (layout_run(layout, dir, run_id, err) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, layout->workdir);
    if (pack_run(dir, &out, err) != 0)
        return -1;
    return put(&out, end, sizeof end) == 0
               ? 0
               : err_set_errno(err, ERR_NODE, errno, "cannot write the tar stream");
}
