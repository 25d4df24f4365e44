/* objects: the resources of the kernels in compiled files that a gate names, whoever built them, read from
 * the files themselves (executor/code): no resources.json is needed. The files are untrusted; their number
 * and sizes are bounded.
 */
#pragma once

#include "common/contract/command.h"
#include "executor/process/ending.h"

#include <jansson.h>

enum { OBJECTS_FILES_MAX = 4096 };

/* patterns: of paths, as the shell's; they are expanded with values first. An object like resources.json, the
 * caller's; LDS is the static one. NULL with why where no file matches, or one cannot be read; NULL with err
 * (whose kind is ERR_NONE before) for what is not the gate's fault. */
json_t *objects_read(const struct command *patterns, const struct subst *values, char why[REASON_MAX],
                     struct err *err);
