/* gate: the kinds of conditions that a variant may have to meet before it is timed, by the names that plans
 * use. A command passes by its exit code; the others hold a number against a limit. Where the number comes
 * from is for who judges.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_GATE_H
#define KERNSWEEP_COMMON_CONTRACT_GATE_H

#include <stdbool.h>

enum gate_kind {
    GATE_COMMAND,
    GATE_SCRATCH_BYTES, /* a lane, at most */
    GATE_VGPRS,         /* a lane, at most */
    GATE_LDS_BYTES,     /* a block, static and dynamic, at most */
    GATE_MIN_OCCUPANCY, /* waves a SIMD, at least */
    GATE_MAX_REL_L2,    /* of a command that prints rel_l2, at most */
    GATE_KIND_COUNT
};

const char *gate_kind_name(enum gate_kind kind);
bool gate_kind_from_name(const char *name, enum gate_kind *out);
/* For messages: "\"command\", \"scratch_bytes\", ...". */
const char *gate_kind_list(void);

bool gate_has_command(enum gate_kind kind);
bool gate_has_limit(enum gate_kind kind);
/* The number keeps the limit. */
bool gate_passes(enum gate_kind kind, double number, double limit);

#endif
