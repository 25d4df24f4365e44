/* propose_unit: units of time and of rates, as programs spell them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct propose_unit {
    const char *spelling;
    const char *unit; /* the name of the unit in a metric */
    bool more;        /* more is better */
};

/* The longest unit at the start of s, unless a letter or digit follows it; NULL if there is none. */
const struct propose_unit *propose_unit_at(const char *s, size_t len);
/* The unit at the end of a label, such as "elapsed_ms" or "Bandwidth (GB/s): "; NULL if there is none. */
const struct propose_unit *propose_unit_of(const char *label, size_t len);
