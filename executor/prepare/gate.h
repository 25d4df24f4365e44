/* gate: the conditions that a variant must meet before it is measured; all its gates write to
 * <variant>/gate.log. The first failure rules the variant out.
 */
#pragma once

#include "executor/suite/suite.h"

int gate_variant(struct suite *s, size_t variant, struct err *err);
