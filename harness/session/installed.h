/* installed: finds files that belong to this command: next to it in a build folder, or in the folders that
 * `make install` creates. Paths are relative to the command itself, so an installation may be moved as a
 * whole.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"

#include <stdbool.h>

/* names: NULL-terminated, relative to the command's folder. out (char[FS_PATH_MAX]): the first readable one;
 * if there is none, *found is false and out is the command's folder. Fails (ERR_INTERNAL) only when the
 * location of the command cannot be determined. */
int installed_find(const char *const names[], char *out, bool *found, struct err *err);
