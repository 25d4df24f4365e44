/* gpu_tests: adds to a job's tests what concerns GPUs: hints about where each cell last ran and how long it
 * took, so that a cell keeps its GPU and the load is spread evenly, and, for the placement "every", a copy of
 * each test for each GPU. Works on the tests of job.json; pure.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/err.h"
#include "harness/plan/plan.h"

/* What an earlier run of the same plan on the same node tells about a cell. */
struct gpu_hint {
    char variant[LIMIT_NAME + 1];
    int64_t context;
    char gpu[GPU_IDS_MAX + 1];        /* "": unknown */
    double expected_s;                /* median wall time; 0: unknown */
    char measured[CLOCK_DAY_LEN + 1]; /* the date of the run that measured it last */
    int64_t since;                    /* sweeps of the plan after it */
};

struct gpu_hints {
    struct gpu_hint *item; /* owned by whoever filled the array */
    size_t count;
};

/* Adds "home" and "expected_s" to the tests of the cells that have a hint. */
void gpu_tests_hint(json_t *tests, const struct gpu_hints *hints);

/* For the placement "every": an array, owned by the caller, of ids: the first GPU of each group that the plan
 * wants, of those in node.json. NULL with ERR_INPUT naming the node's GPUs if there are none, or if a listed
 * one is unknown. */
json_t *gpu_tests_groups(const struct gpu_wish *wish, const json_t *node_gpus, struct err *err);
/* ERR_INPUT if the plan would exceed its limits when multiplied by this number of groups. */
int gpu_tests_check_size(const struct plan *p, size_t groups, struct err *err);
/* Returns a new array with a copy of each test for each of the groups. The repetitions of a cell are numbered
 * consecutively across GPUs. */
json_t *gpu_tests_on_each(const json_t *tests, const json_t *groups);
