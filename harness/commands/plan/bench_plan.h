/* bench_plan: makes the plan of `kernsweep bench` from its command line. */
#pragma once

#include "harness/plan/plan.h"

enum { BENCH_COMMANDS_MAX = 64 };

/* Words of the command line; NULL where absent. */
struct bench_request {
    const char *command[BENCH_COMMANDS_MAX];
    const char *name[BENCH_COMMANDS_MAX]; /* names of the first commands */
    size_t count, names;
    const char *node, *workdir, *ticket, *repeat, *warmup, *timeout;
    const char *sample, *pattern, *unit, *better;
    const char *until; /* percent that the interval of a ratio may span to each side */
    const char *setup, *prepare, *cleanup;
    const json_t *parameters; /* for each command an object of texts; NULL: none */
    bool shell, ignore_failure;
};

/* The caller releases p. ERR_INPUT naming the option. */
int bench_plan_make(const struct bench_request *b, struct plan *p, struct err *err);
