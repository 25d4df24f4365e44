/* bundle_dir: the folder of a run's bundle: <artifacts>/<date>/<ticket>[_<tag>][_<n>]/. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Creates the first free folder of that name and writes its absolute path to out: char[FS_PATH_MAX]. */
int bundle_dir_reserve(char *out, const char *artifacts, const char *date, const char *ticket,
                       const char *tag, struct err *err);

/* Called repeatedly while waiting; `first` on the first call. Returns true to stop waiting. */
typedef bool bundle_dir_busy(void *arg, bool first);

/* Locks the folder, creating it if necessary, so that only one command pulls the run; waits at most wait_s
 * for another command to finish. The caller close()s *fd, which is -1 where folders cannot be locked. */
int bundle_dir_lock(int *fd, const char *dir, double wait_s, bundle_dir_busy *busy, void *arg,
                    struct err *err);
