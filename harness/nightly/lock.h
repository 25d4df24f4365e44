/* nightly_lock: ensures that one nightly run of a plan at a time is active on this machine, and keeps state
 * between nightly runs.
 *
 * <folder of the store>/nightly/<ticket>-<hash of the plan's path, and of the node if the plan names
 * several>.lock is locked with flock, so that the lock is released if its holder dies; its contents name the
 * holder and the time. The .json next to it stores struct nightly_state.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "harness/plan/job.h"
#include "results/store/run_data.h"

#include <jansson.h>

struct nightly_lock {
    int fd;
    char state[FS_PATH_MAX];
};

/* ERR_NODE (exit 3), naming the holder, if the lock is held for longer than what is ending holds it.
 * plan->file must be absolute. */
int nightly_lock_take(struct nightly_lock *l, const char *db, const struct plan *plan, struct err *err);
void nightly_lock_release(struct nightly_lock *l);

/* Survives from one nightly run to the next, and the interruption of one. */
struct nightly_state {
    unsigned
        news; /* a set: the news that is not settled yet; 0 if the last nightly run was quiet or settled it */
    char base[RUN_ID_MAX]; /* what it was found against: the run of a baseline, "nights", or "" if unknown */
    json_t *open;          /* the cells that are open (open_cells.h), or NULL */
    char run_id[JOB_RUN_ID_MAX];   /* measured by a nightly run that is not finished yet, or "" */
    char night[CLOCK_ISO_LEN + 1]; /* when that nightly run began */
    bool notified;                 /* its notifications have been sent */
};

void nightly_state_release(struct nightly_state *s);

/* A file that is missing or unreadable gives the state before the first nightly run. */
void nightly_lock_load(const struct nightly_lock *l, struct nightly_state *out);
int nightly_lock_save(const struct nightly_lock *l, const struct nightly_state *s, struct err *err);
