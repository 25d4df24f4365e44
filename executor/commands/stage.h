/* stage: a source tree that came as a tar stream, kept under its hash. The tree appears under its name only
 * when it is whole: extracted beside it, hashed on the way, renamed at the end.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_STAGE_H
#define KERNSWEEP_EXECUTOR_COMMANDS_STAGE_H

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <stdbool.h>

/* path: char[FS_PATH_MAX], of the tree. */
int stage(const struct layout *layout, const char *sha256, int in_fd, char *path, struct err *err);
int stage_has(const struct layout *layout, const char *sha256, bool *has, struct err *err);

#endif
