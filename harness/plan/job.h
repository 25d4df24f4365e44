/* job: a checked plan expanded into what the executor does, in order: job.json.
 *
 * The order of the tests is fixed by the plan, so that two runs of one plan are the same list. "interleaved"
 * goes through all variants and contexts before the next repetition, so that a drift of the node spreads over
 * the variants; "grouped" finishes one variant and context before the next. Knows nothing of nodes.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_JOB_H
#define KERNSWEEP_HARNESS_PLAN_JOB_H

#include "harness/plan/plan.h"

enum { JOB_RUN_ID_MAX = 65 };

/* What a run adds to the plan, whose overrides have been applied. */
struct job_request {
    const char *run_id;
    const char *date;          /* 2026-02-14, local */
    const char *source_sha256; /* NULL when nothing is pushed */
    bool fresh;                /* ignore cached builds */
    json_t *preflight;         /* warnings about the node, borrowed; NULL: none */
};

/* A new run id: <UTC time>-<ticket>-<random>. out: char[JOB_RUN_ID_MAX]. */
void job_run_id(const char *ticket, char *out);

/* The caller json_decref()s. NULL when memory is short. */
json_t *job_encode(const struct plan *p, const struct job_request *req);

#endif
