/* supervise: one run from its first event to its manifest: lock the node, build, gate, test, close. What an
 * earlier supervisor of the same run has done is kept. The caller holds the run's lock.
 *
 * A storage fault (a full disk) and the end of memory leave the run open, to be resumed; any other fault
 * closes it.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

int supervise(const struct layout *layout, const char *run_id, struct err *err);
