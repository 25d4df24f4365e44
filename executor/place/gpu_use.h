/* gpu_use: which of the machine's GPUs a run may touch, by what the environment of its tests makes visible,
 * and the files whose locks stand for them. Two workdirs, or two users, share the GPUs and so the locks;
 * under a scheduler that gives out the GPUs there are none. Knows nothing of taking locks.
 */
#ifndef KERNSWEEP_EXECUTOR_PLACE_GPU_USE_H
#define KERNSWEEP_EXECUTOR_PLACE_GPU_USE_H

#include "executor/run/suite.h"

enum { GPU_USE_MAX = 64 };

struct gpu_use {
    size_t count;
    char name[GPU_USE_MAX][LIMIT_NAME + 1]; /* unique id, or index; in byte order */
};

/* gpus: array of {"index", "unique_id"}. A list of visible devices that names another GPU than these, or that
 * only a test's placeholders complete, means all of them. */
void gpu_use_of(struct gpu_use *out, const struct job *job, const json_t *gpus);

/* Where the lock of that GPU is on this machine. path: char[FS_PATH_MAX]. */
int gpu_use_path(const struct layout *l, const char *name, char *path, struct err *err);

#endif
