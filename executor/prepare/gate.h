/* gate: the conditions that a variant must meet before it is measured; all its gates write to
 * <variant>/gate.log. The first failure rules the variant out.
 */
#ifndef KERNSWEEP_EXECUTOR_PREPARE_GATE_H
#define KERNSWEEP_EXECUTOR_PREPARE_GATE_H

#include "executor/suite/suite.h"

int gate_variant(struct suite *s, size_t variant, struct err *err);

#endif
