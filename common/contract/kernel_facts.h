/* kernel_facts: what is known of the machine code of one kernel: its resources, and how many instructions of
 * each class it has. Written by the executor (code.json), read by the store and by everything that compares
 * two builds. Plain data; a number that is not known is KERNEL_FACT_UNKNOWN and absent in JSON, never 0.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/json.h"

#include <jansson.h>
#include <stdint.h>

enum { KERNEL_FACT_UNKNOWN = -1 };

enum kernel_resource {
    KERNEL_VGPRS, /* vector registers per lane without AGPRs; registers per thread on NVIDIA */
    KERNEL_AGPRS,
    KERNEL_SGPRS,
    KERNEL_SCRATCH_BYTES, /* per lane; local memory per thread on NVIDIA */
    KERNEL_VGPR_SPILLS,
    KERNEL_SGPR_SPILLS,
    KERNEL_LDS_BYTES, /* static; shared memory on NVIDIA */
    KERNEL_RESOURCES
};

enum instruction_class {
    INSTRUCTION_MATRIX,         /* v_mfma, HMMA, HGMMA */
    INSTRUCTION_VECTOR,         /* other arithmetic of lanes */
    INSTRUCTION_TRANSCENDENTAL, /* v_exp, v_rcp, MUFU */
    INSTRUCTION_SCALAR,
    INSTRUCTION_GLOBAL_LOAD,
    INSTRUCTION_GLOBAL_STORE,
    INSTRUCTION_LDS, /* shared memory on NVIDIA */
    INSTRUCTION_SCRATCH,
    INSTRUCTION_BARRIER,
    INSTRUCTION_WAIT,
    INSTRUCTION_BRANCH,
    INSTRUCTION_OTHER,
    INSTRUCTION_CLASSES
};

enum { KERNEL_BODY_LEN = 32 };

struct kernel_facts {
    char body[KERNEL_BODY_LEN + 1]; /* hash of the code without the kernel's own name: the same after it was
                                     * renamed; "" unknown */
    int64_t resource[KERNEL_RESOURCES];
    int64_t instructions[INSTRUCTION_CLASSES]; /* KERNEL_FACT_UNKNOWN without a disassembler */
    int64_t hot_loop[INSTRUCTION_CLASSES];     /* of these; KERNEL_FACT_UNKNOWN without a loop */
};

/* Returns the key in JSON; the keys are in the order of the enums: "vgprs", "matrix". */
const char *kernel_resource_name(enum kernel_resource r);
const char *instruction_class_name(enum instruction_class c);

void kernel_facts_init(struct kernel_facts *f);
bool kernel_facts_known(const struct kernel_facts *f);
/* Returns an object with "body", "resources", "instructions" and "hot_loop", each only if anything of it is
 * known. */
json_t *kernel_facts_encode(const struct kernel_facts *f);
/* Reads the same members of an object, which may have others; those that are absent are unknown. ERR_INPUT
 * for negative numbers and other types. */
int kernel_facts_decode(const struct json_at *at, struct kernel_facts *f, struct err *err);
