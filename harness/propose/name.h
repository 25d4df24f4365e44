/* propose_name: a metric's name from the words beside a number. */
#pragma once

#include "harness/propose/propose.h"

/* From the last words of a label; from the unit if it has none. Unique in p, and not the name of what is
 * built in. */
void propose_name(const struct proposal *p, const char *label, size_t len, struct proposed *out);
/* Numbers beside the result: deviations, the processor's shares. */
bool propose_is_aside(const char *name);
/* The index of the number that is most likely meant. */
size_t propose_primary(const struct proposal *p);
