/* build_variant: a variant's build in <workdir>/build/<key>/, where the key covers the source, the commands,
 * their environment and the toolchain, so that an unchanged variant is not rebuilt and a stale binary is
 * never measured. A folder is valid only with ".complete" in it, a seal of its files (workdir/seal.h), and
 * with its copy of the sources (sources.h). One run at a time builds: it holds the node's lock or, in a
 * scheduler's task, that of the build.
 */
#pragma once

#include "executor/suite/suite.h"

/* Sets the variant's state and writes its events. -1 only for faults of our own. */
int build_variant(struct suite *s, size_t variant, struct err *err);
/* Uses the build that another process of this run has made. */
int build_variant_use(struct suite *s, size_t variant, const char *key, struct err *err);
