/* bundle: which files of a run's folder are its bundle: regular files that others may read, without hidden
 * ones, the executor's own log and what is too large to be pulled. Both the manifest and `pack` ask here.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_BUNDLE_H
#define KERNSWEEP_EXECUTOR_BUNDLE_BUNDLE_H

#include "common/base/fs.h"

enum { BUNDLE_FILES_MAX = 1000000 };
#define BUNDLE_FILE_MAX ((size_t)1 << 30)

/* fn sees the files in byte order of their paths. */
int bundle_walk(const char *dir, fs_walk_fn *fn, void *arg, struct err *err);

#endif
