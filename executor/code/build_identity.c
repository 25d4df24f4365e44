#include "executor/code/build_identity.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "executor/code/built_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t bytes_max = (uint64_t)16 << 30;

struct pass {
    struct mask mask;
    const struct scan_hook *hook;
    struct code_set *set;
    bool of_files; /* else of device code */
    size_t files;
    uint64_t bytes;
};

static int read_file(struct pass *p, const char *relpath, struct span file, struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    const char *src = p->mask.folder[1];
    if (!*p->set->reads && built_file_reads(relpath, file, src))
        snprintf(p->set->reads, sizeof p->set->reads, "%s", relpath);
    if (!p->of_files) {
        scan_device(file, &p->mask, p->hook, p->set);
    } else if (built_file_counts(relpath, file)) {
        built_file_hash(file, &p->mask, sha256);
        code_set_add(p->set, CODE_ITEM_FILE, "", sha256);
    }
    return code_set_check(p->set, err);
}

static int count(struct pass *p, uint64_t size, struct err *err)
{
    p->files++;
    p->bytes += size;
    if (p->files > IDENTITY_FILES_MAX)
        return err_set(err, ERR_INPUT, "the build has more than %d files", IDENTITY_FILES_MAX);
    if (p->bytes > bytes_max)
        return err_set(err, ERR_INPUT, "the files of the build have more than %llu GiB",
                       (unsigned long long)(bytes_max >> 30));
    return 0;
}

static int map_and_read(struct pass *p, const char *relpath, const char *path, int fd, size_t size,
                        struct err *err)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot map", path);
    int rc = read_file(p, relpath, (struct span){data, size}, err);
    munmap(data, size);
    return rc == 0 ? 0 : err_wrap(err, "%s", relpath);
}

static int visit(const char *relpath, const char *path, void *arg, struct err *err)
{
    struct pass *p = arg;
    struct stat st;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == EACCES))
        return 0; /* a program may remove its own files, or protect them */
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    if (count(p, (uint64_t)st.st_size, err) != 0)
        return -1;
    return map_and_read(p, relpath, path, fd, (size_t)st.st_size, err);
}

static int run_pass(struct pass p, const char *path, struct err *err)
{
    if (fs_is_dir(path))
        return fs_walk(path, true, visit, &p, err);
    const char *slash = strrchr(path, '/');
    if (!fs_exists(path))
        return err_set(err, ERR_INPUT, "%s: no such file", path);
    p.mask.folder[0] = NULL;
    return visit(slash ? slash + 1 : path, path, &p, err);
}

/* Nothing but code for other GPUs. */
static bool is_foreign(const struct code_set *s)
{
    return s->others.count && !code_set_has_device(s);
}

int build_identity_of(const char *path, const char *src, const struct targets *gpus,
                      const struct scan_hook *hook, struct code *out, struct err *err)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    struct pass pass = {.mask = {.folder = {path, src}}, .hook = hook, .set = &set};
    *out = (struct code){.kernel = NULL};
    if (gpus)
        set.gpus = *gpus;
    if (run_pass(pass, path, err) != 0)
        return -1;
    bool foreign = is_foreign(&set);
    if (foreign) {
        set.gpus.count = 0;
        if (run_pass(pass, path, err) != 0)
            return -1;
    }
    pass.of_files = !code_set_has_device(&set);
    if (pass.of_files && run_pass(pass, path, err) != 0)
        return -1;
    if (!foreign)
        set.others.count = 0;
    return code_of_set(&set, out, err);
}

int build_identity_scan(const char *path, const struct scan_hook *hook, struct code_set *set, struct err *err)
{
    struct pass pass = {.hook = hook, .set = set};
    AUTO_FREE char *real = realpath(path, NULL); /* the user named it, so a link is followed */
    struct stat st;
    if (fs_is_dir(path))
        return err_set(err, ERR_INPUT, "%s: is a folder", path);
    if (!real && errno == ENOENT)
        return err_set(err, ERR_INPUT, "%s: no such file", path);
    if (!real || stat(real, &st) != 0 || access(real, R_OK) != 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s: cannot open", path);
    return S_ISREG(st.st_mode) ? run_pass(pass, real, err)
                               : err_set(err, ERR_INPUT, "%s: not a regular file", path);
}
