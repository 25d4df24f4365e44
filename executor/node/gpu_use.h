/* gpu_use: the set of the machine's GPUs that a run may touch, derived from what the environment of its tests
 * makes visible, and the lock file of each. The locks are per machine: workdirs and users share the GPUs.
 * Takes no locks.
 */
#pragma once

#include "common/base/err.h"
#include "common/contract/proto.h"
#include "executor/bundle/job.h"
#include "executor/workdir/layout.h"

enum { GPU_USE_MAX = 64 };

struct gpu_use {
    size_t count;
    char name[GPU_USE_MAX][LIMIT_NAME + 1]; /* unique id, or index; in byte order */
};

/* index: the GPU's place among the node's. */
void gpu_use_add(struct gpu_use *use, const json_t *gpu, size_t index);
/* Whether a name of a gpu_use is that GPU's. */
bool gpu_use_is(const char *name, const json_t *gpu, size_t index);
/* Returns the list of visible devices in this process's environment; NULL: none. */
const char *gpu_use_environment(void);
/* Whether the job's own environment says which GPUs its tests see. */
bool gpu_use_chosen_by_job(const struct job *job);

/* gpus: array of {"index", "unique_id"}. A list of visible devices that names any other GPU, or that contains
 * a placeholder, stands for all of them. */
void gpu_use_visible(struct gpu_use *out, const struct job *job, const json_t *gpus);

/* Gives the path of that GPU's lock file on this machine. path: char[FS_PATH_MAX]. */
int gpu_use_path(const struct layout *l, const char *name, char *path, struct err *err);
