/* toolchain_cache: the compilers' versions as last probed, with what validates them: the time, and the
 * identity of the files. A cache that cannot be read or written is no error.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_TOOLCHAIN_CACHE_H
#define KERNSWEEP_EXECUTOR_NODE_TOOLCHAIN_CACHE_H

#include "executor/workdir/layout.h"

#include <jansson.h>

/* Device, inode, size and change time of each program found in PATH, as one value to compare. */
json_t *toolchain_identity(const char *path, const char *const *names);
/* The cached list when it is fresh and of this identity, else NULL. A new reference. */
json_t *toolchain_cache_load(const struct layout *l, const json_t *identity);
void toolchain_cache_save(const struct layout *l, json_t *identity, json_t *compilers);

#endif
