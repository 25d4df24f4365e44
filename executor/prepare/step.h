/* step: one command of a build or gate, logged, with a time-out. Knows nothing of what its success means.
 */
#pragma once

#include "executor/bundle/runlog.h"
#include "executor/suite/suite.h"

struct step {
    const struct command *command;
    const struct subst *values;
    const char *cwd;
    double timeout_s;
    struct runlog *log;
    /* Also receives the output; may be NULL. */
    void (*output)(void *arg, const char *data, size_t len);
    void *arg;
};

/* The command's assessment in *out; wall_s may be NULL. A command that cannot even be expanded has failed,
 * too; -1 is for faults of our own. */
int step_run(struct suite *s, size_t variant, const struct step *step, struct assessment *out, double *wall_s,
             struct err *err);
