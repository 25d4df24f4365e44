/* retention: bundles of a plan beyond the newest ones leave the disk and their node; what they held stays in
 * the store. The bundle of a run that a baseline names is never removed, nor one that is not ingested.
 */
#ifndef KERNSWEEP_HARNESS_RETENTION_H
#define KERNSWEEP_HARNESS_RETENTION_H

#include "harness/runrec.h"

/* Has the node of a run forget it; what goes wrong there is nobody's failure. NULL: nodes are left alone. */
typedef void retention_forget(void *arg, const struct runrec *r);

/* plan: the plan's file, as the records have it. */
int retention_prune(const char *db, const char *plan, int64_t keep_bundles, retention_forget *forget,
                    void *arg, struct err *err);

#endif
