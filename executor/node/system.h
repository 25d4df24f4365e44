/* system: settings of the node's kernel and CPUs that timings depend on (node.json's "system"). Read from
 * sysfs and procfs; what cannot be read has no key.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <jansson.h>

/* The caller owns the result. */
json_t *system_settings(const struct layout *l);
