/* engines: the container engines in PATH and their versions, for `check`.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <jansson.h>

/* An array of {"name", "version"}; version null: it did not say. */
json_t *engines_probe(const struct layout *l);
