/* What a hostile node sends as a bundle: whatever it is, nothing is written but plain files and folders below
 * the one folder, within the limits.
 */
#include "harness/transport/tarstream.h"
#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>

static const struct tar_limits limits = {.total_bytes = 1 << 20, .file_bytes = 1 << 18, .entries = 200};

static int add_size(const char *rel, const char *full, void *arg, struct err *err)
{
    struct stat st;
    (void)err;
    fuzz_check(fs_safe_relpath(rel) && lstat(full, &st) == 0);
    fuzz_check((st.st_mode & 07077) == 0 && (uint64_t)st.st_size <= limits.file_bytes);
    *(uint64_t *)arg += (uint64_t)st.st_size;
    return 0;
}

/* The first byte is the size of the pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[FS_PATH_MAX], beside[FS_PATH_MAX];
    struct tar_extractor *x;
    struct err err = {0};
    size_t piece = size ? (size_t)data[0] * 8 + 1 : 1;
    uint64_t total = 0;
    int rc = 0;
    fuzz_put("beside", "keep", 4);
    fuzz_check(fs_join(dir, NULL, fuzz_folder(), "out") == 0 &&
               fs_join(beside, NULL, fuzz_folder(), "beside") == 0);
    fuzz_check(tar_extractor_open(&x, dir, &limits, &err) == 0);
    for (size_t i = 1; rc == 0 && i < size; i += piece)
        rc = tar_extractor_write(x, (const char *)data + i, piece < size - i ? piece : size - i, &err);
    struct err late = {0};
    if (tar_extractor_finish(x, &late) != 0 && rc == 0) {
        rc = -1;
        err = late;
    }
    fuzz_check(rc == 0 || (*err.msg && !strchr(err.msg, '\n')));
    fuzz_check(fs_walk(dir, false, add_size, &total, &err) == 0);
    fuzz_check(total <= limits.total_bytes);
    tar_extractor_close(x);
    fuzz_check(fs_exists(dir) == (rc == 0));
    fuzz_check(fs_remove_tree(dir, &err) == 0);
    struct buf kept;
    buf_init(&kept, 4);
    fuzz_check(fs_read_file(beside, 4, &kept, &err) == 0 && strcmp(buf_str(&kept), "keep") == 0);
    buf_release(&kept);
    return 0;
}
