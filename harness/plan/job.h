/* job: expands a validated plan into job.json, the list of what the executor does.
 *
 * The plan determines the order of the tests, so two runs of a plan have the same list. "interleaved" runs
 * all variants and contexts before the next repetition, which spreads drift of the node over all variants;
 * "grouped" completes one variant and context before the next.
 */
#pragma once

#include "common/contract/proto.h"
#include "harness/plan/changed_tests.h"
#include "harness/plan/gpu_tests.h"
#include "harness/plan/plan.h"

enum { JOB_RUN_ID_MAX = 65 };

/* What a run adds to the plan after overrides have been applied. */
struct job_request {
    const char *run_id;
    const char *date;          /* UTC, such as 2026-02-14 */
    const char *source_sha256; /* NULL without a source tree */
    json_t *git;               /* what git knows of the sources (git/revision.h), borrowed, or NULL */
    enum run_purpose purpose;
    const char *sweep; /* id shared by the runs of one command on several nodes; NULL or "": none */
    bool fresh;        /* ignore cached builds */
    bool counters;     /* run the plan's counters, even if the plan does not want them in every run */
    bool build_only;   /* no tests: only build the variants and run their gates */
    bool compile_only; /* with build_only: no gates either, and no GPU is used */
    json_t *preflight; /* warnings about the node, borrowed, or NULL */
    const char *const
        *alone; /* names of variants that run alone although the plan does not say so, borrowed */
    size_t n_alone;
    struct gpu_hints hints;
    const struct changed_hints *changed; /* measure what changed; NULL: everything */
    double budget_s;                     /* with changed: for its tests; 0: none */
    const json_t *gpu_groups; /* for the placement "every" (gpu_tests.h), borrowed; NULL: not known yet */
};

/* Makes a run id, <UTC time>-<ticket>-<eight digits>: three digits are the fraction of the second in 1/4096,
 * five are random. out: char[JOB_RUN_ID_MAX]. */
void job_run_id(const char *ticket, char *out);
/* Compares two run ids, or two sweep ids, by age: < 0 if a is older, > 0 if b is. Comparing them as text
 * would sort runs of the same second by their tickets. */
int job_run_id_compare(const char *a, const char *b);

/* Returns a new reference. */
json_t *job_encode(const struct plan *p, const struct job_request *req);
