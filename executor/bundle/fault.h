/* fault: why a supervisor ended without closing its run, left where `status` and `follow` find it, also when
 * the disk is full: the room for it is taken when the run is submitted.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_FAULT_H
#define KERNSWEEP_EXECUTOR_BUNDLE_FAULT_H

#include "common/base/err.h"

enum { FAULT_MAX = ERR_MSG_MAX };

/* Takes the room; fails when there is none. */
int fault_reserve(const char *run_dir, struct err *err);
/* Forgets an earlier fault. */
void fault_clear(const char *run_dir);
void fault_write(const char *run_dir, const char *message);
/* The message, "" when there is none. out: char[FAULT_MAX]. */
void fault_read(const char *run_dir, char *out);

#endif
