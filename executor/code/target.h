/* target: which device code runs on which GPU, by the names that compilers give both: "gfx942",
 * "gfx942:sramecc+:xnack-", "gfx9-4-generic", "amdgcnspirv"; "sm_90", "sm_90a", "sm_100f", and "compute_90"
 * for PTX. Tables and rules of LLVM and NVIDIA only; knows no file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TARGET_MAX = 32, TARGETS_MAX = 16 };

/* Names without repetition; those beyond the bound are left out. */
struct targets {
    char name[TARGETS_MAX][TARGET_MAX];
    size_t count;
};

void targets_add(struct targets *t, const char *name);
/* Writes "gfx90a, gfx942" to out, which has room for at least one name. */
void targets_text(const struct targets *t, char *out, size_t size);

/* Returns 0 if the GPU cannot run the code, otherwise more for what the runtime prefers. A feature that
 * either side leaves open (xnack, sramecc) rules nothing out. */
unsigned target_rank(const char *code, const char *gpu);
/* Whether the GPU allocates AGPRs behind the VGPRs, in one file of registers. */
bool target_has_unified_registers(const char *gpu);
