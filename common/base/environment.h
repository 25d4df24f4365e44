/* environment: lists of NAME=value, in a struct strvec, for starting programs. */
#pragma once

#include "common/base/strvec.h"

/* Appends the environment of this process. */
void environment_copy(struct strvec *env);
/* Does the same without SSH_* and KERNSWEEP_*, which describe the connection and this program. */
void environment_for_workload(struct strvec *env);
/* Replaces an earlier value of the same name. */
void environment_set(struct strvec *env, const char *name, const char *value);
/* Returns the value, or NULL. */
const char *environment_get(const struct strvec *env, const char *name);
