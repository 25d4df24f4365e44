/* folders: the result folders of variants and of tests. Tests can put something else in their place, so each
 * is identified by a descriptor.
 */
#pragma once

#include "executor/suite/suite.h"

/* Makes anew the folders of variants that were replaced, and says so in the journal. Those that tests closed,
 * even to their owner, are open again, as are the folders above them. A variant whose folder
 * cannot be restored is `stuck`: nothing is written there. */
int folders_look(struct suite *s, struct err *err);
/* Makes the empty folder `name` of the run and opens it: the caller closes *fd. The journal tells of anything
 * in its place that cannot be removed. */
int folders_make(struct suite *s, const char *name, int *fd, struct err *err);
