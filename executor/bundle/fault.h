/* fault: why a supervisor ended without closing its run, stored where `status` and `follow` find it, even on
 * a full disk: the space for it is reserved when the run is submitted.
 */
#pragma once

#include "common/base/err.h"

enum { FAULT_MAX = ERR_MSG_MAX };

/* Reserves the space; fails on a full disk. */
int fault_reserve(const char *run_dir, struct err *err);
/* Removes an earlier fault. */
void fault_clear(const char *run_dir);
void fault_write(const char *run_dir, const char *message);
/* Gives the message, "" when there is none. out: char[FAULT_MAX]. */
void fault_read(const char *run_dir, char *out);
