/* gate: a condition that a variant must meet before it is timed, as plans and jobs write it. A command passes
 * by its exit code; the other kinds hold a number against a limit. Where that number comes from is not
 * decided here.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_GATE_H
#define KERNSWEEP_COMMON_CONTRACT_GATE_H

#include "common/contract/command.h"
#include "common/contract/keys.h"

enum gate_kind {
    GATE_COMMAND,
    GATE_SCRATCH_BYTES, /* a lane, at most */
    GATE_VGPRS,         /* a lane, at most */
    GATE_LDS_BYTES,     /* a block, static and dynamic, at most */
    GATE_MIN_OCCUPANCY, /* waves a SIMD, at least */
    GATE_MAX_REL_L2,    /* of a command that prints rel_l2, at most */
    GATE_KIND_COUNT
};

struct gate {
    enum gate_kind kind;
    const char *name;   /* that of its kind when the plan gives none */
    double limit;       /* of kinds that have one */
    struct command run; /* of kinds that have one */
    double timeout_s;
};

extern const struct key gate_keys[];

/* gate must be zeroed; gate_release() frees it in any case. allowed: placeholders with a value. */
int gate_read(struct gate *gate, const struct json_at *at, unsigned allowed, struct err *err);
void gate_release(struct gate *gate);

const char *gate_kind_name(enum gate_kind kind);
bool gate_kind_from_name(const char *name, enum gate_kind *out);

bool gate_has_command(enum gate_kind kind);
bool gate_has_limit(enum gate_kind kind);
/* The number keeps the limit. */
bool gate_passes(enum gate_kind kind, double number, double limit);

#endif
