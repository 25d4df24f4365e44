/* closing: the end of a run: its summary, its last event, and the manifest that makes the folder a bundle.
 * After that others read the folder and it never changes again.
 */
#pragma once

#include "executor/suite/suite.h"

/* reason: why a run is not COMPLETE, "" otherwise. */
int closing_run(struct suite *s, enum run_status status, const char *reason, struct err *err);
/* Does the last step alone, for a run whose journal already has its last event. */
int closing_seal(struct suite *s, struct err *err);
