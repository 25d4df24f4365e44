/* toolchain: the node's compilers and container engines and their versions, from --version. Compilers are
 * part of node.json and of every build's key: a new compiler means a new build.
 *
 * Asking takes up to a second (hipcc), so both results are cached in the work folder for ten minutes of the
 * same boot, as long as the programs found in PATH are the same files. A cache that cannot be read or written
 * is no error.
 */
#pragma once

#include "common/base/err.h"
#include "executor/process/loop.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* Returns an array of {"name", "version"}; only those that are installed. NULL on error. */
json_t *toolchain_probe(const struct layout *l, struct loop *loop, struct err *err);

/* Returns ROCm's version as its installation states it: that of the hipcc in PATH, else $ROCM_PATH, else the
 * usual one. Packages put the file beside what they link into /opt/rocm, or not there at all. NULL: none. */
json_t *toolchain_rocm(void);

/* Returns the container engines in PATH, in the same form; version null: it did not say. */
json_t *engines_probe(const struct layout *l);
