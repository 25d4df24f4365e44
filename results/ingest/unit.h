/* unit: what other tools measure in, in ours: seconds, milliseconds, bytes and rates. */
#ifndef KERNSWEEP_RESULTS_INGEST_UNIT_H
#define KERNSWEEP_RESULTS_INGEST_UNIT_H

#include <stdbool.h>

/* The factor from one unit to the other; false when they do not measure the same. "" is a plain number. */
bool unit_factor(const char *from, const char *to, double *factor);

#endif
