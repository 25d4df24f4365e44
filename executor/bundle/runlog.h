/* runlog: the output of a process in a file of limited size: the first half as it arrives, the last half at
 * the end, and between them a line with the number of bytes dropped. Secrets are replaced first. A write
 * error is recorded, not fatal: logging must not disturb the process. Units: bytes.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"
#include "executor/bundle/secrets.h"

#include <stdint.h>

struct runlog {
    int fd;
    int write_errno; /* of the first write that failed, 0 when none did */
    char path[FS_PATH_MAX];
    char part[FS_PATH_MAX]; /* the file while it grows */
    size_t head_max, tail_max;
    size_t head_len;
    char *ring; /* the last tail_max bytes after the head; allocated when first needed */
    size_t ring_at, ring_len;
    uint64_t total;   /* bytes the process wrote */
    uint64_t cleaned; /* bytes after replacing secrets */
    struct secrets_stream stream;
    secrets_sink *listener; /* NULL: none */
    void *listener_arg;
};

/* Creates "<dir>/.<name>.part". The struct must not move while it is open. */
int runlog_open(struct runlog *log, const char *dir, const char *name, size_t limit,
                const struct secrets *secrets, struct err *err);
/* The listener is told what the log keeps of the output and what it drops, with secrets replaced. */
void runlog_listen(struct runlog *log, secrets_sink *listener, void *arg);
/* To be called when the output has ended: nothing is held back any more. */
void runlog_end(struct runlog *log);
void runlog_add(struct runlog *log, const char *data, size_t len);
/* Writes the tail and renames the file. */
int runlog_finish(struct runlog *log, struct err *err);
/* Frees what is left; an unfinished file is removed. */
void runlog_release(struct runlog *log);

uint64_t runlog_dropped(const struct runlog *log);
/* Appends the last bytes kept, at most max, to out. May be called before or after runlog_finish(). */
void runlog_tail(const struct runlog *log, size_t max, struct buf *out);
