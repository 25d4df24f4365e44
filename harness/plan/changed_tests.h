/* changed_tests: adds to a job that measures what changed with which fingerprint the tests of a cell are not
 * needed, which of the cells come first, and how many of them have their turn. Works on job.json; pure.
 */
#pragma once

#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "harness/plan/gpu_tests.h"

#include <jansson.h>

/* A cell that need not be measured if its fingerprint is still this one. */
struct changed_hint {
    char variant[LIMIT_NAME + 1];
    int64_t context;
    char fingerprint[SHA256_HEX_LEN + 1];
    bool open; /* it is measured nonetheless */
};

struct changed_hints {
    struct changed_hint *item; /* owned by whoever filled the array */
    size_t count;
    int64_t nights; /* each cell is measured at least once in so many runs */
};

/* Adds "turn" to all tests, "measured" to those of a known cell, "unless" and "open" to those of a cell with
 * a hint, and "controls" to the job. Cells that were not measured for longest come first; of those measured
 * in the same run, one of each variant, each at another context, before the next. */
void changed_tests(json_t *job, const struct changed_hints *changed, const struct gpu_hints *known);
