/* retention: bundles of a plan beyond the newest ones leave the disk; what they held stays in the store. The
 * bundle of a run that a baseline names is never removed, nor one that is not ingested.
 */
#ifndef KERNSWEEP_HARNESS_RETENTION_H
#define KERNSWEEP_HARNESS_RETENTION_H

#include "common/err.h"

#include <stdint.h>

/* plan: the plan's file, as the records have it. */
int retention_prune(const char *db, const char *plan, int64_t keep_bundles, struct err *err);

#endif
