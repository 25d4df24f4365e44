/* stage: a source tree received as a tar stream, stored under its hash. It is extracted to a temporary
 * folder, hashed on the way and renamed at the end, so that it is never visible incomplete.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <stdbool.h>

/* idle_s: how long nothing may arrive before the sender is taken for lost; a connection that a firewall or a
 * power cut ended may never be closed here. path: char[FS_PATH_MAX], receives that of the tree. */
int stage(const struct layout *layout, const char *sha256, int in_fd, double idle_s, char *path,
          struct err *err);
int stage_has(const struct layout *layout, const char *sha256, bool *has, struct err *err);
