/* seal: a record of the files of a finished folder (sizes, times), by which damage is noticed when the folder
 * is used again: a power cut, or somebody who wrote to it. Files that were added later do not break it.
 */
#ifndef KERNSWEEP_EXECUTOR_WORKDIR_SEAL_H
#define KERNSWEEP_EXECUTOR_WORKDIR_SEAL_H

#include "common/base/err.h"

enum { SEAL_REASON_MAX = 256 };

/* Syncs the folder's file system, then writes the seal, a file called name in the folder. */
int seal_write(const char *dir, const char *name, struct err *err);
/* 1 intact, 0 not (why: char[SEAL_REASON_MAX]; "" when there is no seal), -1 error. */
int seal_check(const char *dir, const char *name, char *why, struct err *err);

#endif
