/* vacuum: releases the unused space of the store file, with progress, and stops when the store is
 * interrupted.
 *
 * Unused pages are released some thousand at a time, each time in a transaction of its own: what was released
 * stays released, whenever it ends. Needs STORE_WRITE. Errors: ERR_STORAGE, ERR_INTERRUPTED.
 */
#ifndef KERNSWEEP_RESULTS_STORE_VACUUM_H
#define KERNSWEEP_RESULTS_STORE_VACUUM_H

#include "results/store/store.h"

#include <stdint.h>

struct vacuum_need {
    int64_t bytes;     /* of the store */
    int64_t unused;    /* of these */
    int64_t temporary; /* bytes that are needed beside the store meanwhile */
    int64_t available; /* bytes beside the store */
};

/* Deletes the rows that no run refers to, then says what there is to release. */
int store_vacuum_begin(struct store *s, struct vacuum_need *out, struct err *err);

/* done: 0 to 1. */
typedef void vacuum_progress(void *arg, double done);

/* progress may be NULL. Refused without the space that it needs. */
int store_vacuum(struct store *s, const struct vacuum_need *need, vacuum_progress *progress, void *arg,
                 struct err *err);

#endif
