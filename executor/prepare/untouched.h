/* untouched: before a run is closed, and before a build that others have changed is made again: whether
 * builds, sources and finished results are still what they were when they were sealed. What has changed is
 * told with its name and the test that ran at the time; a test that began later with a changed build or
 * changed sources, or whose record was changed, becomes INVALID. What was only added is told. The time of a
 * file is that of its last change, so builds are looked at before tests, too: what began after the last look
 * that found one whole, without a look of its own, is not believed.
 */
#ifndef KERNSWEEP_EXECUTOR_PREPARE_UNTOUCHED_H
#define KERNSWEEP_EXECUTOR_PREPARE_UNTOUCHED_H

#include "executor/suite/suite.h"

/* Before a test begins: its build and sources are looked at, unless that takes long and was done a moment
 * ago. Sets the test's `proven`, or `doubt` once they are known to be changed. */
int untouched_before(struct suite *s, size_t test, struct err *err);
int untouched_variant(struct suite *s, size_t variant, struct err *err);
/* All variants, and the folders of all tests. */
int untouched_run(struct suite *s, struct err *err);

#endif
