/* container: finds the engine and the image of a variant's container once per run, and makes the command line
 * of a test or step in it. Containers that killed executors left are found by a label.
 */
#pragma once

#include "executor/process/engine.h"
#include "executor/suite/suite.h"

/* One test or step in a container. {0}: none. */
struct container_use {
    bool on;
    enum container_engine engine;
    char name[256];
    struct strvec argv; /* owned */
};

/* Finds the engine and the image of a variant's container, if it has one, and pulls an image that is not
 * there. Why it failed is left in the variant's state. */
void container_resolve(struct suite *s, size_t variant);

/* What is to run in it. */
struct container_command {
    const char *name; /* of the test or step */
    const char *cwd;
    const struct strvec *env; /* of the engine; what the executor itself has not is passed on by name */
    char *const *argv;
    bool limited; /* by the plan's limits */
};

/* Sets use->argv, the engine's command line, or switches use off if there is no container. Ended by
 * container_end. */
int container_begin(struct container_use *use, struct suite *s, size_t variant, const struct lane *lane,
                    const struct container_command *command, struct err *err);

/* Removes what killed executors of this workdir left. Returns how many it removed; *left: how many remain,
 * and how many engines could not be asked. */
size_t container_clear(struct suite *s, size_t *left);

/* Returns {"engine", "image", "digest"} of perf.json; NULL without a container. */
json_t *container_encode(const struct suite *s, size_t variant);
