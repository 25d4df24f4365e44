/* part: the share of a job that one task of a scheduler job does: it prepares a variant (build and gates), or
 * runs tests of that variant with an existing build.
 */
#pragma once

#include "executor/bundle/tests.h"

struct job_part {
    bool on; /* false: this process does the whole job */
    size_t variant;
    bool prepare;
    const char *build;  /* key of the build to use; "": build it here */
    const char *host;   /* the scheduler's name for this machine */
    const char *fence;  /* a file: once it exists, the results of this task are no longer needed */
    const char *cancel; /* a file: exists once the user has cancelled the run */
};

extern const struct key part_keys[], part_test_keys[];

/* at: a job's "part", which may be absent. Marks the tests that belong to other parts. */
int part_read(struct job_part *part, const struct json_at *at, const struct variant *variants,
              size_t variant_count, struct job_test *tests, size_t test_count, struct err *err);
