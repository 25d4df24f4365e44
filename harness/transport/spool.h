/* spool: bytes between a thread that adds them and must not wait, and one that takes them. A few megabytes
 * are kept in memory; what the taking thread is further behind goes through an unnamed file.
 *
 * Each function belongs to one of the two threads. Errors: ERR_STORAGE.
 */
#pragma once

#include "common/base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPOOL_MEMORY = 4 << 20, SPOOL_BLOCK = 64 << 10, SPOOL_TAIL = 1024 };

struct spool {
    int file;
    char *memory;            /* a ring of SPOOL_MEMORY bytes, by position in the stream */
    char block[SPOOL_BLOCK]; /* of the file */
    char tail[SPOOL_TAIL];   /* the last bytes added; of a shorter stream its end */
    uint64_t held;           /* given by the last spool_take() */
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t changed;
    uint64_t added, taken; /* positions in the stream */
    bool spilled;          /* what was added from spilled_at on is in the file */
    uint64_t spilled_at;
    bool ended, abandoned;
};

/* dir: where the file is made. On error s may be closed. */
int spool_open(struct spool *s, const char *dir, struct err *err);
void spool_close(struct spool *s);

/* By the thread that adds. spool_stop() ends the waiting of the other. */
int spool_add(struct spool *s, const char *data, size_t len, struct err *err);
void spool_stop(struct spool *s, bool abandoned);

/* By the thread that takes: waits for bytes; *data is valid until the next call. 0 at the end; -1 with errno,
 * ECANCELED when it was abandoned. */
ssize_t spool_take(struct spool *s, const void **data);
