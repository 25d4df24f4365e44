/* gate: the conditions that a variant must meet before it is measured; all its gates write to
 * <variant>/gate.log. The first failure rules the variant out.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_GATE_H
#define KERNSWEEP_EXECUTOR_RUN_GATE_H

#include "executor/run/suite.h"

int gate_variant(struct suite *s, size_t variant, struct err *err);

#endif
