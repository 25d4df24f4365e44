/* bundle: which files of a run's folder belong to its bundle: regular files, except hidden ones, the
 * executor's own log, and files too large to be pulled. The manifest and `pack` agree by using it.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_BUNDLE_H
#define KERNSWEEP_EXECUTOR_BUNDLE_BUNDLE_H

#include "common/base/fs.h"

enum { BUNDLE_FILES_MAX = 1000000 };
#define BUNDLE_FILE_MAX ((size_t)1 << 30)

/* fn is called in byte order of the paths. */
int bundle_walk(const char *dir, fs_walk_fn *fn, void *arg, struct err *err);

#endif
