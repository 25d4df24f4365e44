/* kernel_usage: the resource usage of a variant's kernels, as its build reports it. A build may write
 * {build}/resources.json (`make -C kernels resources` does); it becomes <variant>/resources.json of the
 * bundle, and numeric gates are checked against it. It is foreign JSON: an absent number is missing, never 0.
 * schemas/resources.schema.json describes the file.
 */
#pragma once

#include "common/contract/gate.h"
#include "executor/suite/suite.h"

#define RESOURCES_FILE "resources.json"

/* After a successful build, cached or not. A file that is not a JSON object fails the build, in the variant's
 * state. Without a file there is nothing to do. */
int kernel_usage_take(struct suite *s, size_t variant, struct err *err);

/* The number that a gate checks: that of the worst of the kernels that its "kernel" matches, whose borrowed
 * name is in *worst. resources: an object like resources.json; of: what to call it. False, with why, when
 * there is none. */
bool kernel_usage_number(const json_t *resources, const struct gate *gate, const char *of, double *number,
                         const char **worst, char why[REASON_MAX]);
