/* revision: reads what a job says of the git work tree of its sources ("source.git"). */
#ifndef KERNSWEEP_RESULTS_INGEST_BUNDLE_REVISION_H
#define KERNSWEEP_RESULTS_INGEST_BUNDLE_REVISION_H

#include "results/ingest/draft/draft.h"

/* at: a job's "source.git", which may be absent. Into d->info.revision and d->commits; what cannot be
 * believed is left out with a warning. */
int revision_read_job(const struct json_at *at, struct draft *d, struct err *err);

#endif
