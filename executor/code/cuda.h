/* cuda: reads the code of a cubin (an ELF file of machine EM_CUDA). A kernel's code is its sections
 * (instructions, constants, attributes, the size of its shared memory), its registers and the functions that
 * it calls; a cubin's is also its other functions, its constants and initial values, and the GPU that it is
 * for. Indexes into the table of symbols are left out, because they change with the other kernels.
 */
#pragma once

#include "executor/code/code_set.h"
#include "executor/code/elf_file.h"
#include "executor/code/mask.h"

/* Whether it is a linked cubin; a relocatable one is not code yet. */
bool cuda_is(const struct elf_file *e);
/* Gives the name of what it is for. */
void cuda_target(const struct elf_file *e, char out[TARGET_MAX]);
void cuda_code(const struct elf_file *e, const struct mask *mask, struct code_set *set);
