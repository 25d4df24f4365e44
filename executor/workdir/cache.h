/* cache: what a node keeps for later runs: source trees (src), patched copies, builds, executors (bin),
 * what the tests of each build compiled while they ran (compiled). Each use stamps an entry; pruning removes
 * entries that have not been stamped for some days and that no run's folder refers to, and none while any run
 * is supervised.
 *
 * Knows nothing of plans. Errors: ERR_STORAGE.
 */
#pragma once

#include "common/base/json.h"
#include "executor/workdir/layout.h"

#define CACHE_COMPILED "compiled"

/* Marks the folder as used now. Best effort. */
void cache_stamp(const char *path);
/* Does the same for the folder of this program, when it is in bin. */
void cache_stamp_self(const struct layout *layout);

/* Syncs a finished tree and renames it to its place in the cache; when the place is taken, the tree is
 * removed instead. */
int cache_publish(const char *from, const char *to, struct err *err);

/* Removes what has not been used for that many days. *out: {"removed": {"src": N, ...}, "running": a run's id
 * or null}; the caller json_decref()s. */
int cache_prune(const struct layout *layout, int64_t days, json_t **out, struct err *err);
