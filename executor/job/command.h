/* command: from a job's templates to the argv and the environment of a process.
 * Knows nothing of running it.
 */
#ifndef KERNSWEEP_EXECUTOR_JOB_COMMAND_H
#define KERNSWEEP_EXECUTOR_JOB_COMMAND_H

#include "common/base/err.h"
#include "common/base/strvec.h"
#include "common/contract/subst.h"
#include "executor/job/job.h"

int command_argv(const struct command *cmd, const struct subst *values, struct strvec *out, struct err *err);
/* This process's environment, the usual places of compilers added to PATH, then the job's and the variant's
 * entries. An entry whose placeholders have no value here (a context in a build) is left out. */
int command_environment(const struct job *job, const struct variant *variant, const struct subst *values,
                        struct strvec *out, struct err *err);

#endif
