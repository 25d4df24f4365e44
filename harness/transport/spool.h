/* spool: bytes between a thread that adds them and must not wait, and a thread that takes them. A few
 * megabytes are kept in memory; if the taking thread falls further behind, bytes go through an unnamed
 * file.
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
    char block[SPOOL_BLOCK]; /* read from the file */
    char tail[SPOOL_TAIL];   /* the last bytes added, at its end if there are fewer */
    uint64_t held;           /* bytes returned by the last spool_take() */
    pthread_mutex_t lock;    /* protects the following members */
    pthread_cond_t changed;
    uint64_t added, taken; /* positions in the stream */
    bool spilled;          /* bytes from spilled_at on are in the file */
    uint64_t spilled_at;
    bool ended, abandoned;
};

/* dir: the folder of the file. After an error, s may be closed. */
int spool_open(struct spool *s, const char *dir, struct err *err);
void spool_close(struct spool *s);

/* For the thread that adds. spool_stop() ends the other thread's waiting. */
int spool_add(struct spool *s, const char *data, size_t len, struct err *err);
void spool_stop(struct spool *s, bool abandoned);

/* For the thread that takes: waits for bytes; *data is valid until the next call. Returns 0 at the end, or -1
 * with errno, which is ECANCELED if the spool was abandoned. */
ssize_t spool_take(struct spool *s, const void **data);
