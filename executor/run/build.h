/* build: a variant's build in <workdir>/build/<key>/, where the key covers the source, the commands, their
 * environment and the toolchain, so that an unchanged nightly builds nothing and a stale binary cannot be
 * timed. A folder counts only when it holds ".complete". One run at a time builds (it holds the node's lock,
 * or, in a scheduler's job, the build's).
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_BUILD_H
#define KERNSWEEP_EXECUTOR_RUN_BUILD_H

#include "executor/run/suite.h"

/* Sets the variant's state and tells it by events. -1 only for faults of our own. */
int build_variant(struct suite *s, size_t variant, struct err *err);
/* Takes the build that another process of this run made. */
int build_use(struct suite *s, size_t variant, const char *key, struct err *err);

#endif
