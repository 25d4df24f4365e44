/* contents: which files of a run's folder belong to its bundle: regular files, except hidden ones and the
 * executor's own log. What tests and builds leave is left out where it could not be brought home or would be
 * too much; what kernsweep itself writes is not, up to the limits of common/contract/bundle_limits.h.
 */
#pragma once

#include "common/base/fs.h"

/* Whether a test or a build left the file: not one that kernsweep writes. path: in the run's folder. */
bool contents_is_foreign(const char *path);
/* Whether it is one that the reading of a bundle needs; kernsweep's logs are neither. */
bool contents_is_record(const char *path);

/* fn is called in byte order of the paths; left_out (may be NULL) for what is not in the bundle, with the
 * reason. */
int contents_walk(const char *dir, fs_walk_fn *fn, fs_skipped_fn *left_out, void *arg, struct err *err);
