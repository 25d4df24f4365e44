/* fuzz: what the fuzz targets share. A target is one file fuzz_<name>.c with LLVMFuzzerTestOneInput(); its
 * seeds are in seeds/<name>/. It is linked twice: with libFuzzer for `make fuzz`, and with replay.c, which
 * runs the seeds in every `make check`. A finding is an abort: of a sanitizer, or of fuzz_check().
 */
#pragma once

#include "common/base/fs.h"
#include "common/base/text.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_check(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))

static inline void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

/* What is shown to a terminal: UTF-8 without control characters but newlines. */
static inline void fuzz_check_text(const char *text, size_t len)
{
    fuzz_check(text_is_utf8(text, len));
    for (size_t i = 0; i < len; i++)
        fuzz_check(((unsigned char)text[i] >= 0x20 || text[i] == '\n') && text[i] != 0x7f);
}

/* The project's way to fail: one line, and the input's fault. */
static inline void fuzz_check_err(int rc, const struct err *err, enum err_kind kind)
{
    if (rc == 0)
        return;
    if (rc != -1 || err->kind != kind)
        fprintf(stderr, "rc %d, kind %d: %s\n", rc, (int)err->kind, err->msg);
    fuzz_check(rc == -1 && err->kind == kind);
    fuzz_check(*err->msg && !strchr(err->msg, '\n'));
    fuzz_check_text(err->msg, strlen(err->msg));
}

/* A folder of the process's own, on a file system in memory where there is one. Cleared at exit. */
const char *fuzz_folder(void);

/* The input as a file without a name; path: char[32]. The caller closes the descriptor. */
static inline int fuzz_file(const void *data, size_t size, char *path)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_check(fd >= 0 && fs_write_all(fd, data, size) == 0);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* Writes <fuzz_folder()>/name, without the syncs of fs_write_file(). */
static inline void fuzz_put(const char *name, const void *data, size_t size)
{
    char path[FS_PATH_MAX];
    fuzz_check(fs_join(path, NULL, fuzz_folder(), name) == 0);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_check(fd >= 0 && fs_write_all(fd, data, size) == 0);
    close(fd);
}
