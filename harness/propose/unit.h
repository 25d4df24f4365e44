/* propose_unit: units of time and of rates, as programs spell them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct propose_unit {
    const char *spelling;
    const char *unit; /* as a metric has it */
    bool more;        /* is better */
};

/* The unit that s begins with, longest first, if no letter or digit follows; NULL if there is none. */
const struct propose_unit *propose_unit_at(const char *s, size_t len);
/* The unit that a key or label ends in: "elapsed_ms", "Bandwidth (GB/s): "; NULL if there is none. */
const struct propose_unit *propose_unit_of(const char *label, size_t len);
