/* machine: where all users of a machine leave what concerns its GPUs: their locks, and records of settings
 * that are to be put back. Only builds paths.
 */
#pragma once

#include "executor/workdir/layout.h"

/* The same folder for every user; anybody may write to it, and its contents are gone after a restart. */
const char *machine_folder(const struct layout *l);
/* kernsweep-gpu-NAME.KIND in that folder. path: char[FS_PATH_MAX]. */
int machine_gpu_file(const struct layout *l, const char *name, const char *kind, char *path, struct err *err);
