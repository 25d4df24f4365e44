/* resources: what a variant's build says of its kernels. A build may leave {build}/resources.json
 * (`make -C kernels resources` does); it becomes <variant>/resources.json of the bundle, and numeric gates
 * are judged by it. Foreign JSON: a number that is not there is missing, never 0.
 * schemas/resources.schema.json describes the file.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_RESOURCES_H
#define KERNSWEEP_EXECUTOR_RUN_RESOURCES_H

#include "common/contract/gate.h"
#include "executor/run/suite.h"

/* After a successful build, cached or not. A file that is no JSON object fails the build: the variant's state
 * says so. No file is fine. */
int resources_take(struct suite *s, size_t variant, struct err *err);

/* The variant's number for a gate of that kind: of its kernels, the worst one's. False, with *why, when there
 * is none. *kernel is the name of the worst, borrowed. */
bool resources_number(const json_t *resources, enum gate_kind kind, double *number, const char **kernel,
                      char why[REASON_MAX]);

#endif
