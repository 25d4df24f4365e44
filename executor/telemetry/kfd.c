/* A back-end: the VRAM of the process tree, from class/kfd/kfd/proc/PID/vram_GPU. The folders are named by
 * the host's pids: in a container they do not match, and nothing is measured. */
#include "common/base/alloc.h"
#include "executor/process/proctree.h"
#include "executor/telemetry/backend.h"
#include "executor/workdir/sysfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES_MAX = 256 };

static const double refresh_s = 1;

struct kfd {
    char root[FS_PATH_MAX];
    pid_t pid;
    double next_refresh_s;
    size_t count;
    int fd[FILES_MAX];
    struct proctree tree;
};

static void close_files(struct kfd *k)
{
    for (size_t i = 0; i < k->count; i++)
        close(k->fd[i]);
    k->count = 0;
}

static void open_file(const char *path, const char *name, void *arg)
{
    struct kfd *k = arg;
    (void)name;
    int fd = k->count < FILES_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        k->fd[k->count++] = fd;
}

static void open_process(struct kfd *k, pid_t pid)
{
    char name[32], dir[FS_PATH_MAX];
    snprintf(name, sizeof name, "%ld", (long)pid);
    if (fs_join(dir, NULL, k->root, name) == 0)
        entries_each(dir, "vram_", open_file, k);
}

static void kfd_read(void *state, struct sample *out)
{
    struct kfd *k = state;
    char text[64];
    if (out->t_s >= k->next_refresh_s) {
        close_files(k);
        proctree_listed(&k->tree, k->pid);
        for (size_t i = 0; i < k->tree.count; i++)
            open_process(k, k->tree.pid[i]);
        k->next_refresh_s = out->t_s + refresh_s;
    }
    for (size_t i = 0; i < k->count; i++) {
        ssize_t n = pread(k->fd[i], text, sizeof text - 1, 0);
        if (n <= 0)
            continue;
        text[n] = '\0';
        sample_put(out, SAMPLE_VRAM_PROC, strtod(text, NULL));
    }
}

static void *kfd_open(const struct telemetry_target *target)
{
    struct kfd *k = xcalloc(1, sizeof *k);
    if (target->pid > 0 && fs_join(k->root, NULL, target->layout->sysfs, "class/kfd/kfd/proc") == 0 &&
        fs_is_dir(k->root)) {
        k->pid = target->pid;
        return k;
    }
    free(k);
    return NULL;
}

static void kfd_close(void *state)
{
    close_files(state);
    free(state);
}

const struct telemetry_backend telemetry_kfd = {
    .name = "kfd",
    .per_test = true,
    .open = kfd_open,
    .read = kfd_read,
    .close = kfd_close,
};
