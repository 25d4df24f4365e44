/* unit: converts between the units of other tools and ours. */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_UNIT_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_UNIT_H

#include <stdbool.h>

/* The factor from one unit to the other; false if their dimensions differ. "" is a plain number. */
bool unit_factor(const char *from, const char *to, double *factor);

#endif
