/* bundle_dir: where a run's bundle goes: <artifacts>/<date>/<ticket>[_<tag>][_<n>]/.
 */
#ifndef KERNSWEEP_HARNESS_BUNDLE_DIR_H
#define KERNSWEEP_HARNESS_BUNDLE_DIR_H

#include "common/err.h"

/* Makes the first free folder of that name, empty, and writes its absolute path to out: char[FS_PATH_MAX]. */
int bundle_dir_reserve(char *out, const char *artifacts, const char *date, const char *ticket,
                       const char *tag, struct err *err);

#endif
