/* amd: reads the code of a code object of an AMD GPU (an ELF file of machine EM_AMDGPU, code object version 3
 * or later). A kernel's code is its instructions, its descriptor, its entry in the metadata and the functions
 * that it refers to; an object's is also its other functions, its data and the GPU that it is for.
 *
 * Addresses that the linker put into the instructions (s_getpc_b64 and what is added to it) are replaced by
 * the names of what they point to, so that a kernel keeps its hash when another one changes its size.
 */
#pragma once

#include "executor/code/code_set.h"
#include "executor/code/elf_file.h"
#include "executor/code/mask.h"

/* Whether it is a linked code object; a relocatable one is not code yet. */
bool amd_is(const struct elf_file *e);
/* Gives the name of what it is for; "" unknown. */
void amd_target(const struct elf_file *e, char out[TARGET_MAX]);
void amd_code(const struct elf_file *e, const struct mask *mask, struct code_set *set);
