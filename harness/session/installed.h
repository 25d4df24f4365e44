/* installed: where the files are that belong to this command: beside it in a build folder, or in the folders
 * that `make install` makes under one prefix. Found from the command's own place, so that a tree may be moved
 * as a whole.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_INSTALLED_H
#define KERNSWEEP_HARNESS_SESSION_INSTALLED_H

#include "common/base/err.h"
#include "common/base/fs.h"

#include <stdbool.h>

/* names: NULL-terminated, relative to the command's folder; the first that can be read. out:
 * char[FS_PATH_MAX]. *found says whether there is one. Fails (ERR_INTERNAL) only when it cannot be told where
 * the command is; then, or when none is there, out is that folder. */
int installed_find(const char *const names[], char *out, bool *found, struct err *err);

#endif
