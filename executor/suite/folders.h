/* folders: the folders of results, of variants and of tests, which tests can put something else in the place
 * of. Each is known by a descriptor.
 */
#pragma once

#include "executor/suite/suite.h"

/* Makes those of variants anew that are not what they were, and says so in the journal. One that cannot be
 * had any more is `stuck`: nothing is written there. */
int folders_look(struct suite *s, struct err *err);
/* Makes the empty folder `name` of the run and opens it: the caller closes *fd. The journal says what was in
 * its place and cannot be removed. */
int folders_make(struct suite *s, const char *name, int *fd, struct err *err);
