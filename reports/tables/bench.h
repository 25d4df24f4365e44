/* bench: commands that were measured against each other in one run, one row per command. Their variants are
 * in the order of the commands, at context 1.
 */
#pragma once

#include "reports/render/table.h"
#include "results/judge/compare.h"
#include "results/judge/median_interval.h"

/* Borrowed. */
struct bench_table {
    const struct run_data *run;
    const struct comparison *comparison; /* with the first command; NULL if there is only one */
    const char *const *commands;         /* as typed */
    size_t n_commands;
};

struct bench_row {
    const char *name, *command;
    const struct cell *cell;   /* NULL: the command never ran */
    const struct delta *delta; /* NULL for the first */
    double *values;            /* of the run's primary metric; owned by the caller, who free()s them */
    size_t n;
    struct median_interval interval;
    double least, most; /* of the values; NaN: none */
    double user_s,
        system_s; /* means over the same tests of what the process took of the CPUs; NaN: unknown */
};

/* i: index of the run's variant. */
void bench_row_fill(const struct bench_table *b, size_t i, struct bench_row *row);
/* t: initialised and empty. */
void bench_table_fill(const struct bench_table *b, struct table *t);
