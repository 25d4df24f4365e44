/* untouched: whether builds, sources and the records of finished tests are still what they were when they
 * were sealed. Builds and sources are looked at before tests and before a run is closed. A test that began
 * when they had changed, and one that nothing vouches for when they turn out to have changed later, becomes
 * INVALID, as does one whose record was changed. What was only added to sources is told.
 */
#pragma once

#include "executor/suite/suite.h"

/* Once all builds and gates have run: a variant of which they changed something is the same for all of its
 * tests, so that is told, and it is not looked at again. */
int untouched_prepared(struct suite *s, struct err *err);
/* Before a test begins: its build and sources are looked at, unless that takes long and was done a moment
 * ago; the test is then `unverified` until the next look that finds all unchanged. Sets the test's `doubt`
 * once they are known to be changed. */
int untouched_before(struct suite *s, size_t test, struct err *err);
/* `what` of the variant has changed: its results that are unverified are not believed. */
int untouched_disbelieve(struct suite *s, size_t variant, const char *what, struct err *err);
/* The builds and sources of all variants, and the records of all tests. */
int untouched_run(struct suite *s, struct err *err);
