/* patched: copies of the staged tree with a plan's patches applied, in <workdir>/patched/<key>/, where the
 * key covers the tree and the patches. The staged tree itself is never written. An existing copy is used only
 * when its patched files equal what patching the tree gives now. Each patch is recorded by a CONFIG_PATCH
 * event with the file's hash before and after it. One run at a time: the caller holds the node's lock.
 */
#pragma once

#include "executor/suite/suite.h"

/* Sets {src} and the source key of every variant with patches. 1 done; 0 a patch does not apply, and reason
 * (char[REASON_MAX]) says which; -1 for faults of our own. */
int patched_prepare(struct suite *s, char *reason, struct err *err);
