/* changed: what `--changed` asks of a run: to measure the cells whose code or circumstances changed since
 * they were measured last, those that are open, and some controls. */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/plan/changed_tests.h"
#include "harness/plan/plan.h"

/* Loads the cells of the plan, on its node, that need not be measured if they did not change. A store that
 * does not exist yet has none. The caller frees out->item. ERR_INPUT for a plan whose tests run through a
 * scheduler. */
int changed_load(const struct cmd_env *env, const struct plan *p, struct changed_hints *out, struct err *err);
