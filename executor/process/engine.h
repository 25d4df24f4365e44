/* engine: the command lines of docker, podman and apptainer: to run a program in a container, and to find,
 * end and remove one. Pure: starts nothing.
 */
#pragma once

#include "common/base/strvec.h"
#include "common/contract/container.h"
#include "executor/process/contain_group.h"

#include <sys/types.h>

/* The labels by which containers of a workdir and of a run are found. */
#define ENGINE_LABEL "kernsweep.workdir"
#define ENGINE_LABEL_RUN "kernsweep.run"

enum { ENGINE_FOLDERS_MAX = 8, ENGINE_DEVICES_MAX = 80, ENGINE_GROUPS_MAX = 8 };

struct engine_run {
    enum container_engine engine; /* not ENGINE_AUTO */
    const struct container *container;
    const char *name, *mark, *run_id; /* mark "": not to be found by it */
    const char *cwd;
    const char *folder[ENGINE_FOLDERS_MAX]; /* bound at the same path; NULL or "": none */
    const struct strvec *env;               /* the container gets only what differs from the executor's own */
    const char *device[ENGINE_DEVICES_MAX]; /* of AMD; NULL-terminated */
    gid_t group[ENGINE_GROUPS_MAX];         /* that own them */
    size_t group_count;
    const char *uuid[ENGINE_DEVICES_MAX]; /* of NVIDIA; NULL-terminated */
    bool rootless;                        /* the user's own podman */
    struct contain_limits limits;
};

const char *engine_name(enum container_engine e);
/* Whether its containers are children of a daemon or monitor, through which they must be ended. */
bool engine_has_containers(enum container_engine e);
/* argv: the program's. A folder with ':' or ',' in its path is an error. */
int engine_run_argv(const struct engine_run *r, char *const *argv, struct strvec *out, struct err *err);
/* Prints whether it runs, and whether it was killed for memory. */
void engine_inspect_argv(enum container_engine e, const char *name, struct strvec *out);
void engine_remove_argv(enum container_engine e, const char *name, struct strvec *out);
/* Prints its id, or nothing where there is none. */
void engine_list_name_argv(enum container_engine e, const char *name, struct strvec *out);
/* Lists the ids of the containers with that mark. */
void engine_list_argv(enum container_engine e, const char *mark, struct strvec *out);
