/* perf: perf.json, the record of one test. It is written last of a test's files: if it exists, the test is
 * final.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_PERF_H
#define KERNSWEEP_EXECUTOR_RUN_PERF_H

#include "common/contract/timings.h"
#include "executor/bundle/runlog.h"
#include "executor/process/child.h"
#include "executor/run/suite.h"
#include "executor/telemetry/sampler.h"

struct perf {
    size_t test;
    unsigned attempt;
    const struct assessment *assessment;
    /* All NULL for a test that did not run. */
    const struct lane *lane;
    const struct child_result *child;
    const struct timings *timings;
    const struct sampler *sampler;
    const struct runlog *log;
    double started_real_s;
    double printed_s;  /* when the timings arrived, since the start; NaN: never */
    double vram_after; /* NaN: not available */
    bool vram_back;
};

json_t *perf_encode(const struct suite *s, const struct perf *p);
/* Loads dir/perf.json into the suite. 1 the test is final, 0 the file is missing or incomplete. */
int perf_load(struct suite *s, size_t test, const char *dir);

#endif
