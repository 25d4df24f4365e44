/* nightly_lock: one night of a plan at a time on this machine, and what the last one brought.
 *
 * <folder of the store>/nightly/<ticket>-<hash of the plan's path>.lock is held by flock, so that a dead
 * holder keeps nothing; its contents say who holds it since when. Beside it, .json keeps struct
 * nightly_state.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_LOCK_H
#define KERNSWEEP_HARNESS_NIGHTLY_LOCK_H

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "harness/plan/job.h"

struct nightly_lock {
    int fd;
    char state[FS_PATH_MAX];
};

/* ERR_NODE (exit 3) naming the holder when it is taken. plan->file must be absolute. */
int nightly_lock_take(struct nightly_lock *l, const char *db, const struct plan *plan, struct err *err);
void nightly_lock_release(struct nightly_lock *l);

/* What is kept between nights, and within one that is cut short. */
struct nightly_state {
    unsigned news; /* a set: what the last night ended with; 0 when it was quiet or there was none */
    char run_id[JOB_RUN_ID_MAX];   /* of the night that was measured and is not closed yet, or "" */
    char night[CLOCK_ISO_LEN + 1]; /* when that one began */
    bool told;                     /* people have been told of it */
};

/* What cannot be read is as if there had been no night. */
void nightly_lock_load(const struct nightly_lock *l, struct nightly_state *out);
int nightly_lock_save(const struct nightly_lock *l, const struct nightly_state *s, struct err *err);

#endif
