/* changed_tests: adds to a job's tests with which fingerprint of their cell they are not needed, for a run
 * that measures what changed. Works on the tests of job.json; pure.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"

#include <jansson.h>

/* Least number of cells without a change that are measured nonetheless: what the node itself does to the
 * times is read from them. */
enum { CHANGED_CONTROLS_MIN = 6 };

/* A cell that need not be measured if its fingerprint is still this one. */
struct changed_hint {
    char variant[LIMIT_NAME + 1];
    int64_t context;
    char fingerprint[SHA256_HEX_LEN + 1];
    char measured[CLOCK_DAY_LEN + 1]; /* when it was measured last */
    int64_t since;                    /* runs of the plan since then */
};

struct changed_hints {
    struct changed_hint *item; /* owned by whoever filled the array */
    size_t count;
    int64_t nights; /* each cell is measured at least once in so many runs */
};

/* Adds "unless", "measured" and "turn" to the tests of the cells that have a hint. Those that were not
 * measured for longest come first; of those measured in the same run, one of each variant, each at another
 * context, before the next. */
void changed_tests_hint(json_t *tests, const struct changed_hints *hints);
/* Returns how many of the cells without a change are to be measured, so that each of them is at least once in
 * the hints' number of nights. */
int64_t changed_tests_controls(const json_t *tests, const struct changed_hints *hints);
