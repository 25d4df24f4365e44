/* propose_unit: units of time and of rates, as programs spell them. The longest spelling counts, so that
 * "tokens per second" is never seconds, and a rate of anything is a rate: "X/s", "X per second", "X/day".
 */
#pragma once

#include "common/contract/proto.h"

#include <stdbool.h>
#include <stddef.h>

struct propose_unit {
    char unit[LIMIT_UNIT + 1]; /* the name of the unit in a metric; "" if it does not fit there */
    bool more;                 /* more is better */
    size_t length;             /* bytes of its spelling */
};

/* The unit at the start of s, brackets around it included. A word before '=' or ':' is the label of what
 * follows and no unit. */
bool propose_unit_at(const char *s, size_t len, struct propose_unit *out);
/* The unit that a label ends with, such as "elapsed_ms", "latencyMs" or "Bandwidth (GB/s): ". */
bool propose_unit_of(const char *label, size_t len, struct propose_unit *out);
