/* command: expands a job's templates to the argv and environment of a process. */
#pragma once

#include "common/base/err.h"
#include "common/base/strvec.h"
#include "common/contract/subst.h"
#include "executor/bundle/job.h"
#include "executor/process/compile_caches.h"

int command_argv(const struct command *cmd, const struct subst *values, struct strvec *out, struct err *err);
/* Appends this process's environment with the usual compiler folders added to PATH and the caches of compiled
 * kernels in that folder (NULL: where they are), then the entries of the job and of the variant (may be
 * NULL). Omits entries whose placeholders have no value here, such as a context in a build. */
int command_environment(const struct job *job, const struct variant *variant, const struct subst *values,
                        const char *caches, struct strvec *out, struct err *err);
