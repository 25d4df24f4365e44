/* model_facts: the metadata of the model file that a plan names, as far as a run needs them.
 */
#pragma once

#include <jansson.h>

/* Returns {"path", "size_bytes", "architecture", "context_length"} or {"path", "error"}, the caller's. */
json_t *model_facts(const char *path);
