/* part: what one task of a scheduler's job does of the whole: it prepares a variant (build and gates), or it
 * runs tests of that variant with a build that exists already.
 */
#ifndef KERNSWEEP_EXECUTOR_JOB_PART_H
#define KERNSWEEP_EXECUTOR_JOB_PART_H

#include "executor/job/tests.h"

struct job_part {
    bool on; /* false: this process does the whole job */
    size_t variant;
    bool prepare;
    const char *build;  /* key of the build to use; "": build it here */
    const char *host;   /* what the scheduler calls this machine */
    const char *fence;  /* a file: once it exists, nobody waits for this task any more */
    const char *cancel; /* a file: it exists when the user cancelled the whole run */
};

extern const struct key part_keys[], part_test_keys[];

/* at: a job's "part", which may be absent. Marks the tests that belong to other parts. */
int part_read(struct job_part *part, const struct json_at *at, const struct variant *variants,
              size_t variant_count, struct job_test *tests, size_t test_count, struct err *err);

#endif
