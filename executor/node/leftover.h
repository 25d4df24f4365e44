/* leftover: processes that tests of earlier runs of this workdir left on the node (their executor was killed,
 * so nobody cleaned up). They are known by KERNSWEEP_OUT in their environment. Only who holds the node's lock
 * may end them: until then they may be another run's.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_LEFTOVER_H
#define KERNSWEEP_EXECUTOR_NODE_LEFTOVER_H

#include "executor/process/loop.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* An array of {"pid", "run_id", "command"}. */
json_t *leftover_list(const struct layout *l);
/* Kills them and waits until they are gone, at most limit_s. Returns how many there were; *left how many
 * stay. */
size_t leftover_kill(const struct layout *l, double limit_s, size_t *left);

#endif
