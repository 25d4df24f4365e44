/* retention: removes data of a plan's older runs. Bundles of all but the newest runs are removed from disk
 * and node, samples from the store; all other numbers stay. Nothing is removed of a run that a baseline names
 * or that is not ingested. Idempotent.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_RETENTION_H
#define KERNSWEEP_HARNESS_NIGHTLY_RETENTION_H

#include "harness/session/runrec.h"

/* Removes a run from its node; failures are ignored. NULL: nodes are left alone. */
typedef void retention_forget(void *arg, const struct runrec *r);

/* plan: the plan's file, as in the run records. node: only runs there; NULL: anywhere. */
int retention_prune(const char *db, const char *plan, const char *node, int64_t keep_bundles,
                    retention_forget *forget, void *arg, struct err *err);
int retention_prune_samples(const char *db, const char *plan, const char *node, int64_t keep_samples,
                            struct err *err);

#endif
