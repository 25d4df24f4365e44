/* environment: lists of NAME=value, to start programs with. They are struct strvec, with its rule for memory
 * that runs short.
 */
#ifndef KERNSWEEP_COMMON_BASE_ENVIRONMENT_H
#define KERNSWEEP_COMMON_BASE_ENVIRONMENT_H

#include "common/base/strvec.h"

/* Appends the environment of this process. */
void environment_copy(struct strvec *env);
/* The same for a workload: without SSH_* and KERNSWEEP_*, which belong to the connection and to this program.
 */
void environment_for_workload(struct strvec *env);
/* Sets NAME=value, in place of an earlier NAME. */
void environment_set(struct strvec *env, const char *name, const char *value);
/* The value, or NULL. */
const char *environment_get(const struct strvec *env, const char *name);

#endif
