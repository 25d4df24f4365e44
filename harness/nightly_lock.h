/* nightly_lock: one night of a plan at a time on this machine, and what the last one brought.
 *
 * <folder of the store>/nightly/<ticket>-<hash of the plan's path>.lock is held by flock, so that a dead
 * holder keeps nothing; its contents say who holds it since when. Beside it, .json keeps the last news.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_LOCK_H
#define KERNSWEEP_HARNESS_NIGHTLY_LOCK_H

#include "common/fs.h"
#include "harness/plan.h"

struct nightly_lock {
    int fd;
    char state[FS_PATH_MAX];
};

/* ERR_NODE (exit 3) naming the holder when it is taken. plan->file must be absolute. */
int nightly_lock_take(struct nightly_lock *l, const char *db, const struct plan *plan, struct err *err);
void nightly_lock_release(struct nightly_lock *l);

/* The news (a set) that the last night ended with; 0 when it was quiet or there was none. */
unsigned nightly_lock_last(const struct nightly_lock *l);
int nightly_lock_record(const struct nightly_lock *l, unsigned news, struct err *err);

#endif
