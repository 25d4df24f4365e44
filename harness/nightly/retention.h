/* retention: what a plan's older runs leave behind. Bundles beyond the newest ones leave the disk and their
 * node; samples beyond those of the newest runs leave the store; all other numbers stay there. Nothing of a
 * run that a baseline names is ever removed, nor of one that is not ingested. Doing it again changes nothing.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_RETENTION_H
#define KERNSWEEP_HARNESS_NIGHTLY_RETENTION_H

#include "harness/session/runrec.h"

/* Has the node of a run forget it; what goes wrong there is nobody's failure. NULL: nodes are left alone. */
typedef void retention_forget(void *arg, const struct runrec *r);

/* plan: the plan's file, as the records have it. */
int retention_prune(const char *db, const char *plan, int64_t keep_bundles, retention_forget *forget,
                    void *arg, struct err *err);
int retention_prune_samples(const char *db, const char *plan, int64_t keep_samples, struct err *err);

#endif
