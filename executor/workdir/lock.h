/* lock: a lock file, and who holds it. The lock belongs to the open file description (OFD): it is released
 * with the last descriptor, so a dead holder cannot keep it, a fork hands it over without a gap, and querying
 * the holder does not acquire it. The file's text names the holder for messages and for `cancel`; it is valid
 * only while the lock is held. Knows nothing of runs.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lock {
    int fd; /* -1 when not open */
};

struct lock_holder {
    bool held;
    pid_t pid;           /* 0 when unknown */
    uint64_t start_time; /* of the process, clock ticks since boot, as /proc/PID/stat says */
    char what[128];      /* a run id */
};

/* Creates the file if needed, in the place of whatever is no file. Does not lock. */
int lock_open(struct lock *lock, const char *path, struct err *err);
/* Does the same where all users may write: follows no link and accepts only a regular file with one name. */
int lock_open_shared(struct lock *lock, const char *path, struct err *err);
void lock_close(struct lock *lock);
/* Returns 1 locked, 0 held by another process, -1 error. */
int lock_try(struct lock *lock, struct err *err);
/* The same, but waits for up to 5 s while the holder is what was killed: it gives up its locks one after the
 * other, so that one may be free before the next. */
int lock_try_after(struct lock *lock, const char *path, const char *what, struct err *err);
/* Starts a child that waits for the lock on the same open file description and exits once it has it. Returns
 * its pid, or -1. The caller waits for the child, or kills it, and then calls lock_try(). */
pid_t lock_wait_start(struct lock *lock, struct err *err);
/* Writes this process and `what` into the file. */
int lock_describe(struct lock *lock, const char *what, struct err *err);

/* Queries the holder without locking. A file that does not exist is not held. */
int lock_look(const char *path, struct lock_holder *out, struct err *err);
/* Returns a pidfd of the holder, verified by its start time; -1 when it is gone. */
int lock_holder_pidfd(const struct lock_holder *holder);
/* Whether it was sent SIGSTOP, or a debugger holds it. */
bool lock_holder_is_stopped(const struct lock_holder *holder);
/* Returns 0 when there is no such process. */
uint64_t lock_process_start_time(pid_t pid);
