/* blocked: the bundle of a run that its node never got, because it was unreachable, busy or unfit: the job,
 * and a summary with the reason and the command that is pending. It is closed, so that it is stored, moved
 * and read as any other bundle. Errors: ERR_STORAGE.
 */
#pragma once

#include "harness/session/session.h"

/* For a session whose start failed, and that left nothing on the node. The folder is named
 * "<ticket>[_<tag>]_blocked", so that the run's own name stays free. dir: char[FS_PATH_MAX]. */
int blocked_bundle(const struct session *s, const struct plan *p, const char *reason, const char *pending,
                   char *dir, struct err *err);
