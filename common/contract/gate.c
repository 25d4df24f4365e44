#include "common/contract/gate.h"

#include <stddef.h>
#include <string.h>

static const char *const names[GATE_KIND_COUNT] = {
    [GATE_COMMAND] = "command",     [GATE_SCRATCH_BYTES] = "scratch_bytes", [GATE_VGPRS] = "vgprs",
    [GATE_LDS_BYTES] = "lds_bytes", [GATE_MIN_OCCUPANCY] = "min_occupancy", [GATE_MAX_REL_L2] = "max_rel_l2",
};

const char *gate_kind_name(enum gate_kind kind)
{
    return names[kind];
}

bool gate_kind_from_name(const char *name, enum gate_kind *out)
{
    for (size_t i = 0; i < GATE_KIND_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum gate_kind)i;
            return true;
        }
    }
    return false;
}

const char *gate_kind_list(void)
{
    return "\"command\", \"scratch_bytes\", \"vgprs\", \"lds_bytes\", \"min_occupancy\" or \"max_rel_l2\"";
}

bool gate_has_command(enum gate_kind kind)
{
    return kind == GATE_COMMAND || kind == GATE_MAX_REL_L2;
}

bool gate_has_limit(enum gate_kind kind)
{
    return kind != GATE_COMMAND;
}

bool gate_passes(enum gate_kind kind, double number, double limit)
{
    return kind == GATE_MIN_OCCUPANCY ? number >= limit : number <= limit;
}
