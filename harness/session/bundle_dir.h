/* bundle_dir: where a run's bundle goes: <artifacts>/<date>/<ticket>[_<tag>][_<n>]/.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_BUNDLE_DIR_H
#define KERNSWEEP_HARNESS_SESSION_BUNDLE_DIR_H

#include "common/base/err.h"

#include <stdbool.h>

/* Makes the first free folder of that name, empty, and writes its absolute path to out: char[FS_PATH_MAX]. */
int bundle_dir_reserve(char *out, const char *artifacts, const char *date, const char *ticket,
                       const char *tag, struct err *err);

/* Told once that there is somebody to wait for; true to stop waiting. */
typedef bool bundle_dir_busy(void *arg, bool first);

/* Keeps out other commands that would bring the same run to the same folder, which is made when it is not
 * there, and waits for one that does, at most wait_s. *fd is for the caller to close(); -1 where folders
 * cannot be locked. */
int bundle_dir_lock(int *fd, const char *dir, double wait_s, bundle_dir_busy *busy, void *arg,
                    struct err *err);

#endif
