/* gpu_tests: what a job's tests know of GPUs: where each cell ran last and how long it took (hints, so that a
 * cell keeps its GPU and a night is spread evenly), and, for the placement "every", a copy of each test for
 * each GPU. Works on the tests of job.json; pure.
 */
#pragma once

#include "common/base/err.h"
#include "harness/plan/plan.h"

/* What an earlier run of the same plan on the same node says of a cell. */
struct gpu_hint {
    char variant[LIMIT_NAME + 1];
    int64_t context;
    char gpu[GPU_IDS_MAX + 1]; /* "": unknown */
    double expected_s;         /* median wall time; 0: unknown */
};

struct gpu_hints {
    struct gpu_hint *item; /* the filler's */
    size_t count;
};

/* Adds "home" and "expected_s" to the tests of the cells that have a hint. */
void gpu_tests_hint(json_t *tests, const struct gpu_hints *hints);

/* For the placement "every": the first GPUs of the groups that the plan wants, of those in node.json, as an
 * array of ids. NULL and ERR_INPUT naming what the node has, when there are none, or one that is listed is
 * unknown. The caller owns it. */
json_t *gpu_tests_groups(const struct gpu_wish *wish, const json_t *node_gpus, struct err *err);
/* Whether a plan so many times as large is still one. ERR_INPUT. */
int gpu_tests_check_size(const struct plan *p, size_t groups, struct err *err);
/* The tests once for each of these, in turns; the repetitions of a cell are numbered on through the GPUs. The
 * caller owns the result. */
json_t *gpu_tests_on_each(const json_t *tests, const json_t *groups);
