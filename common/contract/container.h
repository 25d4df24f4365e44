/* container: the "container" object of a plan or variant: the image in which a variant is built and its tests
 * run, and by which engine. Strings are borrowed from the JSON.
 */
#pragma once

#include "common/contract/keys.h"

enum container_engine { ENGINE_AUTO, ENGINE_DOCKER, ENGINE_PODMAN, ENGINE_APPTAINER };
enum { CONTAINER_OPTIONS_MAX = 64, CONTAINER_WORD_MAX = 1024 };

struct container {
    bool on;    /* false: on the node itself */
    int engine; /* enum container_engine */
    const char *image;
    const json_t *options; /* array of words for the engine; NULL: none */
};

extern const struct key container_keys[];
extern const char *const container_engine_names[];

/* at: the value, which may be absent or null. */
int container_read(struct container *c, const struct json_at *at, enum document in, struct err *err);
