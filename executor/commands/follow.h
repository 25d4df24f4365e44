/* follow: copies a run's journal to a descriptor as it grows, until the run is closed. Woken by inotify and
 * by the supervisor's end (pidfd), not by polling; after two seconds of silence it sends an empty line, so
 * that both ends notice a dead connection. Only complete lines are sent: a line torn by a crash is never
 * seen.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <stdint.h>

enum { FOLLOW_COMPLETE = 0, FOLLOW_DEAD = 75 };

/* offset: bytes of the journal that the reader has. Returns FOLLOW_COMPLETE, FOLLOW_DEAD (no process
 * supervises the run and it is not complete; err says why, as far as is known), or -1. */
int follow(const struct layout *layout, const char *run_id, int64_t offset, int out_fd, struct err *err);
