/* gate: the conditions a variant meets before it may be timed; all its gates write to <variant>/gate.log.
 * The first one that fails closes the variant.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_GATE_H
#define KERNSWEEP_EXECUTOR_RUN_GATE_H

#include "executor/run/suite.h"

int gate_variant(struct suite *s, size_t variant, struct err *err);

#endif
