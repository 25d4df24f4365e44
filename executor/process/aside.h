/* aside: a control group of version 2 either has processes or gives its controllers to groups below it. So
 * the executor moves aside, into a group of its own below, with the helper that it started before.
 */
#pragma once

#include "common/base/err.h"

#include <sys/types.h>

/* own: where this process stands. helper: moves with it if it stands there, too; 0: none. stand:
 * char[FS_PATH_MAX], the group that was made. */
int aside_enter(char *stand, const char *own, pid_t helper, struct err *err);
/* Moves all that stand there back, and removes the group. */
void aside_leave(const char *stand, const char *own);
