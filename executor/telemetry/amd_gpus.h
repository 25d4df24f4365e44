/* amd_gpus: the AMD GPUs of a node as a test sees them, from two sources that need not agree: the cards of
 * class/drm, which have the sensors, and the nodes of kfd's topology, which ROCm's runtime numbers and
 * identifies. They are matched by PCI address (domain and location_id); drivers without these, by unique id.
 * A card that is partitioned (CPX, DPX) has a node for each part, and each is a GPU. In the order of kfd's
 * nodes, which is that of ROCR_VISIBLE_DEVICES; cards without a node follow.
 */
#pragma once

#include "common/base/fs.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/sysfile.h"

#include <stdbool.h>
#include <stddef.h>

enum { AMD_GPUS_MAX = 64, AMD_ID_MAX = 64 };

struct amd_gpu {
    char device[FS_PATH_MAX]; /* .../class/drm/cardN/device of its card */
    char kfd[FS_PATH_MAX];    /* .../topology/nodes/N; "": none */
    char id[AMD_ID_MAX];      /* its card's unique id, of a part with ".N" behind it; "": none of its own */
    char kfd_id[AMD_ID_MAX];  /* by which ROCR knows it; "": by none, or one that several have */
    unsigned long gpu_id;     /* kfd's number of it; 0: none */
    unsigned render;          /* N of its device file /dev/dri/renderDN, as kfd has it; 0: unknown */
    bool is_part;             /* of a card that is partitioned, whose other parts may be hidden */
};

typedef void amd_gpu_fn(const struct amd_gpu *gpu, size_t index, void *arg);

void amd_gpus_each(const struct layout *l, amd_gpu_fn *fn, void *arg);
/* Calls fn with the name of each of its device files under /dev/dri: each part of a card has one of its own.
 */
void amd_gpu_render_nodes(const struct amd_gpu *gpu, entries_fn *fn, void *arg);
/* Gives the folder in which kfd has one for each process. Returns false where there is none. */
bool amd_gpus_processes(const struct layout *l, char out[FS_PATH_MAX]);
/* Returns the bytes that all processes of that folder have of a GPU, by kfd's number of it. It is the memory
 * in use of a part: the driver counts that of the whole card. */
double amd_gpus_bytes(const char *processes, unsigned long gpu_id);
