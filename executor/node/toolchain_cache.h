/* toolchain_cache: the last answer of the compilers, with what it is worth: when it was asked and which files
 * answered. A cache that cannot be read or written is no error.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_TOOLCHAIN_CACHE_H
#define KERNSWEEP_EXECUTOR_NODE_TOOLCHAIN_CACHE_H

#include "executor/workdir/layout.h"

#include <jansson.h>

/* Device, inode, size and change time of each program that PATH leads to, as one value to compare. */
json_t *toolchain_identity(const char *path, const char *const *names);
/* The kept answer when it is of this identity and fresh, else NULL. A new reference. */
json_t *toolchain_cache_load(const struct layout *l, const json_t *identity);
void toolchain_cache_save(const struct layout *l, json_t *identity, json_t *compilers);

#endif
