/* pack: a run's bundle as a tar stream (ustar), paths relative to the run's folder. A live run can be packed:
 * each file is sent with the size it has when it is opened. The stream of a closed run is always the same, so
 * that a transfer that was cut can go on where it ended.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <stdint.h>

/* offset: how much of the stream has arrived. */
int pack(const struct layout *layout, const char *run_id, uint64_t offset, int out_fd, struct err *err);
