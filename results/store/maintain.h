/* maintain: checks the store file, and releases its unused space.
 *
 * Problems found by the check are passed to `found`. Unused pages are released some thousand at a time, each
 * time in a transaction of its own, so an interruption loses nothing. Errors: ERR_STORAGE, ERR_INTERRUPTED.
 */
#pragma once

#include "results/store/store.h"

#include <stdint.h>

typedef void maintain_found(void *arg, const char *what);

struct check_result {
    int problems;
    int64_t runs;
    int64_t tests;
    int64_t samples;
    int64_t bytes; /* of the file */
};

/* Checks the file's structure, the references between tables, and what the schema cannot express: the series
 * and variant of each test, and the packed samples. */
int store_check(struct store *s, maintain_found *found, void *arg, struct check_result *out, struct err *err);

struct vacuum_need {
    int64_t bytes;     /* of the store */
    int64_t unused;    /* of these */
    int64_t temporary; /* bytes that are needed beside the store meanwhile */
    int64_t available; /* bytes beside the store */
};

/* Needs STORE_WRITE. Deletes the rows that no run refers to, then says what can be released. */
int store_vacuum_begin(struct store *s, struct vacuum_need *out, struct err *err);

/* done: 0 to 1. */
typedef void vacuum_progress(void *arg, double done);

/* progress may be NULL. Refused without the space that it needs. */
int store_vacuum(struct store *s, const struct vacuum_need *need, vacuum_progress *progress, void *arg,
                 struct err *err);
