/* job_json: reads job.json of a bundle: which run it is, its variants, and what git said of its sources. As
 * untrusted as the other artifacts (artifact.h). */
#pragma once

#include "results/ingest/draft/draft.h"

int job_read_head(const struct json_at *job, struct run_info *r, struct err *err);
int job_read_variants(const struct json_at *job, struct draft *d, struct err *err);
/* Reads into d->info.revision and d->commits; implausible values are left out with a warning. at: a job's
 * "source.git", which may be absent. */
int job_read_revision(const struct json_at *at, struct draft *d, struct err *err);
