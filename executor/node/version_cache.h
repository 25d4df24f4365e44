/* version_cache: the versions of programs as they last gave them, with what validates them: the time, and the
 * identity of the files. Asking takes longer than a short test: some need a tenth of a second each. A cache
 * that cannot be read or written is no error.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <jansson.h>

/* Device, inode, size and change time of each program found in PATH, as one value to compare. */
json_t *version_identity(const char *path, const char *const *names);
/* file: its name in the work folder. The cached list when it is fresh and of this identity, else NULL. A new
 * reference. */
json_t *version_cache_load(const struct layout *l, const char *file, const json_t *identity);
void version_cache_save(const struct layout *l, const char *file, json_t *identity, json_t *versions);
