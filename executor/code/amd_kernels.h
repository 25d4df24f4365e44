/* amd_kernels: the kernels that the metadata of a code object lists (NT_AMDGPU_METADATA, in any number of
 * notes), by name. The owner calls amd_kernels_release().
 */
#pragma once

#include "common/contract/kernel_facts.h"
#include "executor/code/elf_file.h"
#include "executor/code/mask.h"
#include "executor/code/target.h"

struct amd_kernel {
    struct span name;  /* of its function */
    struct span entry; /* the map with its resources and arguments */
};

struct amd_kernels {
    struct amd_kernel *item; /* by name */
    size_t count, cap;
    char gpu[TARGET_MAX]; /* "gfx942:xnack+"; "" where the metadata does not say */
};

/* Without readable metadata there are none. */
void amd_kernels_read(struct amd_kernels *k, const struct elf_file *e);
void amd_kernels_release(struct amd_kernels *k);
/* Returns NULL if no kernel has that name. */
const struct amd_kernel *amd_kernels_find(const struct amd_kernels *k, const char *name, size_t len);
/* Gives its resources as far as the metadata says; the others stay unknown. gpu: as in struct amd_kernels. */
void amd_kernel_facts(const struct amd_kernel *k, const char *gpu, struct kernel_facts *out);
/* Whether its stack has no size that the compiler knows. Returns -1 where the metadata does not say. */
int amd_kernel_is_dynamic(const struct amd_kernel *k);
/* Adds its entry without its names. */
void amd_kernel_add_nameless(const struct amd_kernel *k, const struct mask *mask, struct sha256 *h);
