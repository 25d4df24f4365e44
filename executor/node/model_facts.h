/* model_facts: the metadata of the model file that a plan names, as far as a run needs them.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_MODEL_FACTS_H
#define KERNSWEEP_EXECUTOR_NODE_MODEL_FACTS_H

#include <jansson.h>

/* {"path", "size_bytes", "architecture", "context_length"}, or {"path", "error"}. The caller owns it. */
json_t *model_facts(const char *path);

#endif
