/* leftover: processes left on the node by tests of earlier runs of this workdir, whose executor was killed
 * before it could clean up. They are recognised by the workdir's mark in their environment. Only the holder
 * of the node's lock may kill them: otherwise they may belong to a live run.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <jansson.h>

/* Returns an array of {"pid", "run_id", "command"}. */
json_t *leftover_list(const struct layout *l);
/* Kills them and waits for their end, at most limit_s. Returns how many there were; *left: how many survive.
 */
size_t leftover_kill(const struct layout *l, double limit_s, size_t *left);
