/* retention: removes data of a plan's older runs. Bundles of all but the newest runs are removed from disk
 * and node, samples from the store; all other numbers stay. Nothing is removed of a run that a baseline names
 * or that is not ingested. Idempotent.
 */
#pragma once

#include "harness/session/runrec.h"

#include <signal.h>
#include <stdbool.h>

/* Removes a run from its node. False: the node could not be asked, so the bundle here stays too and the next
 * night tries again. NULL: nodes are left alone. */
typedef bool retention_forget(void *arg, const struct runrec *r);

/* Who watches, and may stop it between two steps of a few runs: what was removed by then stays removed, and
 * the next call goes on. Each may be NULL. */
struct retention_watch {
    const volatile sig_atomic_t *interrupted;
    void (*progress)(void *arg, size_t done, size_t total);
    void *arg;
};

/* plan: the plan's file, as in the run records. node: only runs there; NULL: anywhere. watch may be NULL. */
int retention_prune(const char *db, const char *plan, const char *node, int64_t keep_bundles,
                    const struct retention_watch *watch, retention_forget *forget, void *arg,
                    struct err *err);
int retention_prune_samples(const char *db, const char *plan, const char *node, int64_t keep_samples,
                            const struct retention_watch *watch, struct err *err);
