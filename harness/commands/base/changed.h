/* changed: what `--changed` and `--budget` ask of a run: to measure the cells whose code or circumstances
 * changed since they were measured last, those that are open, and some controls. */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/plan/changed_tests.h"
#include "harness/plan/plan.h"

/* The find_changed() of struct session_options, for which arg is the struct cmd_env. A store that does not
 * exist yet knows no cells. */
int changed_load(const void *arg, const struct plan *p, struct changed_hints *out, struct err *err);

#define CHANGED_OPTIONS(type, prefix)                                                                        \
    {"--changed", NULL, ARG_AT(type, prefix changed),                                                        \
     "measure the cells that changed, those that are open, and controls; carry the others"},                 \
        {"--budget", "TIME", ARG_AT(type, prefix budget),                                                    \
         "measure only as much of what changed as fits into this time: 90s, 20m, 1.5h"},                     \
    {                                                                                                        \
        "--tier", "smoke", ARG_AT(type, prefix tier), "only the cells of the plan's \"smoke\""               \
    }
