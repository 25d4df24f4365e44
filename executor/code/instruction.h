/* instruction: the class of a machine instruction, from its mnemonic as disassemblers print it:
 * llvm-objdump's for AMD GPUs, nvdisasm's for NVIDIA's. Tables only; knows nothing of what surrounds an
 * instruction.
 */
#pragma once

#include "common/contract/kernel_facts.h"

#include <stdbool.h>

/* text: the mnemonic and its operands. buffer_scratch: the kernel has scratch memory, on a GPU before gfx940;
 * then buffer instructions on s[0:3], or at an address that is the same for all lanes, access it. */
enum instruction_class instruction_class_amd(const char *text, bool buffer_scratch);
/* text: without a predicate ("@!P0"). */
enum instruction_class instruction_class_nvidia(const char *text);
