/* remains: records what a run makes among the control groups of this machine, before it is made: a file in
 * <workdir>/contained/<boot>/, by which a later executor finds what a killed one left. The records of another
 * machine that shares the workdir, or of another boot, are not read.
 */
#pragma once

#include "executor/process/contain_group.h"
#include "executor/process/hierarchy.h"

/* name: of the run's folders. record: char[FS_PATH_MAX], its path. */
int remains_note(const struct hierarchy *at, const struct layout *l, const char *name, char *record,
                 struct err *err);
void remains_forget(const char *path);
/* Kills and removes the groups that killed executors of this workdir left, at most limit_s. Only for the
 * holder of the node's lock. Returns how many runs had left some; *left: for how many some remain. */
size_t remains_clear(const struct layout *l, double limit_s, size_t *left);
