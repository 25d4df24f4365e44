/* diag: the evidence beside a test that is not OK: a reason line first, then what is known about its end, its
 * last samples, what its processes were doing when they were stopped, and the end of its log.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_DIAG_H
#define KERNSWEEP_EXECUTOR_BUNDLE_DIAG_H

#include "common/base/buf.h"
#include "executor/bundle/runlog.h"
#include "executor/telemetry/sample.h"

#include <sys/types.h>

enum { DIAG_MAX = 256 << 10 };

/* State, wait channel, kernel stack (where readable) of root and what descends from it. */
void diag_processes(struct buf *out, pid_t root);
void diag_sample(struct buf *out, const char *title, const struct sample *s);
void diag_log_end(struct buf *out, const struct runlog *log);

#endif
