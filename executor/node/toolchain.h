/* toolchain: the node's compilers and their versions, from --version. Part of node.json and of every build's
 * key: a new compiler means a new build.
 *
 * This takes up to a second (hipcc), so the result is cached in <workdir>/toolchain.json for ten minutes of
 * the same boot, as long as the programs found in PATH are the same files.
 */
#pragma once

#include "common/base/err.h"
#include "executor/process/loop.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* An array of {"name", "version"}; only those that are installed. NULL on error. */
json_t *toolchain_probe(const struct layout *l, struct loop *loop, struct err *err);
