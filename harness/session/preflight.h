/* preflight: judges from a node's facts (node.json) whether it is fit for a run, and suggests remedies.
 *
 * Pure: takes the facts and the run's needs, and returns findings in a fixed order. All text is safe for a
 * terminal.
 */
#pragma once

#include "common/contract/gpu_wish.h"
#include "harness/session/finding.h"

#include <stdint.h>

struct preflight_needs {
    int64_t largest_context;  /* tokens; 0: unknown */
    const char *limit_memory; /* the plan's limits; NULL and 0: none */
    int64_t limit_processes;
    const struct gpu_wish *gpus; /* which ones the plan says it wants; NULL: any */
    unsigned engines;            /* bits of enum container_engine that the plan's containers need */
    bool isolate;                /* the plan isolates its tests */
    bool by_scheduler;           /* tests run on other machines than the checked one */
    bool compile_only;           /* the run builds, and measures nothing */
    bool hipcc, nvcc;            /* the plan's builds name this compiler */
    bool debug;                  /* the run's mode is debug */
    const json_t *env;           /* the plan's "env", borrowed; NULL: none */
    double clock_offset_s;       /* node's clock minus ours; NaN: not measured */
    double clock_error_s;        /* half the round-trip time of the measurement */
};

void preflight_check(struct preflight *out, const json_t *node, const struct preflight_needs *needs);
