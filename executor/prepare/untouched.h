/* untouched: finds out whether builds, sources and the records of finished tests are still as they were
 * sealed. Builds and sources are looked at before tests and before a run is closed. A test that began when
 * they had changed becomes INVALID, as does one that nothing vouches for when they turn out to have changed
 * later, and one whose record was changed. Files that were only added to sources are noted.
 */
#pragma once

#include "executor/suite/suite.h"

/* To be called once all builds and gates have run. If they changed a variant's build or sources, all of its
 * tests have the same: the change is noted, and the variant is not looked at again. */
int untouched_prepared(struct suite *s, struct err *err);
/* To be called before a test begins: its build and sources are looked at, unless that takes long and was done
 * a moment ago; the test is then `unverified` until the next look that finds all unchanged. Sets the test's
 * `doubt` once they are known to be changed. */
int untouched_before(struct suite *s, size_t test, struct err *err);
/* Makes the variant's unverified results INVALID, because `what` has changed. */
int untouched_disbelieve(struct suite *s, size_t variant, const char *what, struct err *err);
/* Looks at the builds and sources of all variants, and at the records of all tests. */
int untouched_run(struct suite *s, struct err *err);
