/* commands: what the executor's commands do, one file each; main.c reads their options and prints. Functions
 * return 0, an exit code where it says so, or -1.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts, or resumes, the run whose {"plan", "job"} can be read from in_fd: makes its folder, and starts its
 * supervisor detached. The run's lock is taken here and inherited by the fork, so that a concurrent submit
 * cannot start a second supervisor. Appends one JSON object to out. */
int submit(const struct layout *layout, int in_fd, struct buf *out, struct err *err);

/* Makes a run's supervisor stop its test and close the run as CANCELLED, and waits for that. A run without a
 * supervisor is closed here. A closed run stays as it is: no error. */
int cancel(const struct layout *layout, const char *run_id, struct err *err);

/* Every run of the workdir, newest first, or the one: an array of its progress, and whether it is supervised,
 * from the job, the end of the journal and the summary. run_id NULL: all. NULL on error. */
json_t *status_report(const struct layout *layout, const char *run_id, struct err *err);

enum { FOLLOW_COMPLETE = 0, FOLLOW_DEAD = 75 };

/* Copies a run's journal to a descriptor as it grows, until the run is closed. Woken by inotify and by the
 * supervisor's end (pidfd), not by polling; after two seconds of silence it sends an empty line, so that both
 * ends notice a dead connection. Only complete lines are sent: a line torn by a crash is never seen.
 *
 * offset: bytes of the journal that the reader has. Returns FOLLOW_COMPLETE, FOLLOW_DEAD (no process
 * supervises the run and it is not complete; err says why, as far as is known), or -1. */
int follow(const struct layout *layout, const char *run_id, int64_t offset, int out_fd, struct err *err);

/* A run's bundle as a tar stream (ustar), paths relative to the run's folder. A live run can be packed: each
 * file is sent with the size it has when it is opened. The stream of a closed run is always the same, so that
 * a transfer that was cut can go on where it ended. offset: how much of the stream has arrived. */
int pack(const struct layout *layout, const char *run_id, uint64_t offset, int out_fd, struct err *err);

/* Receives a source tree as a tar stream and stores it under its hash. It is extracted to a temporary folder,
 * hashed on the way and renamed at the end, so that it is never visible incomplete.
 *
 * idle_s: how long nothing may arrive before the sender is taken for lost; a connection that a firewall or a
 * power cut ended may never be closed here. path: char[FS_PATH_MAX], receives that of the tree. */
int stage(const struct layout *layout, const char *sha256, int in_fd, double idle_s, char *path,
          struct err *err);
int stage_has(const struct layout *layout, const char *sha256, bool *has, struct err *err);

/* Inside a scheduler's job: one attempt at one task of an array job (scheduler/array_job.h), supervised like
 * any run, in a folder of its own that no other attempt ever writes to. The exit code, or -1. Does nothing
 * when the task's results are no longer needed. */
int task_run(const struct layout *layout, const char *run_id, int array, struct err *err);
