/* diag: the parts of diag.txt, the evidence for a test that is not OK: its last samples, what its processes
 * were doing when they were stopped, and the end of its log.
 */
#pragma once

#include "common/base/buf.h"
#include "executor/bundle/runlog.h"
#include "executor/bundle/secrets.h"
#include "executor/telemetry/sample.h"

#include <sys/types.h>

enum { DIAG_MAX = 256 << 10 };

/* State, wait channel and kernel stack (where readable) of root and its descendants. */
void diag_processes(struct buf *out, pid_t root, const struct secrets *secrets);
void diag_sample(struct buf *out, const char *title, const struct sample *s);
void diag_log_end(struct buf *out, const struct runlog *log);
