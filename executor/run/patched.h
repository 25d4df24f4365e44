/* patched: copies of the staged tree that a plan's patches were applied to, in <workdir>/patched/<key>/,
 * where the key covers the tree and the patches. The staged tree itself is never written. A copy that is
 * there is believed only when its patched files are what patching the tree gives now. Every patch is told by
 * a CONFIG_PATCH event with the file's hash before and after it. One run at a time (it holds the node's
 * lock).
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_PATCHED_H
#define KERNSWEEP_EXECUTOR_RUN_PATCHED_H

#include "executor/run/suite.h"

/* Gives every variant with patches its {src} and source key. 1 done; 0 a patch does not fit, and reason
 * (char[REASON_MAX]) says which; -1 for faults of our own. */
int patched_prepare(struct suite *s, char *reason, struct err *err);

#endif
