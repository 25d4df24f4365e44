/* cache: what a node keeps for later runs: source trees (src), patched copies, builds, executors (bin).
 * Whoever uses one stamps it; pruning removes those that nobody stamped for some days and that no run's
 * folder refers to.
 *
 * So a baseline's, whose run's folder stays, are never removed; and while any run is supervised nothing is.
 * Knows nothing of plans. Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_EXECUTOR_WORKDIR_CACHE_H
#define KERNSWEEP_EXECUTOR_WORKDIR_CACHE_H

#include "common/base/json.h"
#include "executor/workdir/layout.h"

/* Says that this folder is in use, as well as can be; one that is not there is nobody's failure. */
void cache_stamp(const char *path);
/* The same for the folder of this program, where that is one of the node's. */
void cache_stamp_self(const struct layout *layout);

/* Syncs a finished tree and renames it to its place in the cache; when the place is taken, the tree is removed
 * instead. */
int cache_publish(const char *from, const char *to, struct err *err);

/* Removes what nobody used for so many days. *out: {"removed": {"src": N, ...}, "running": a run's id or
 * null}; the caller json_decref()s. */
int cache_prune(const struct layout *layout, int64_t days, json_t **out, struct err *err);

#endif
