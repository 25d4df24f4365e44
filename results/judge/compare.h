/* compare: compares two runs cell by cell and gives each a verdict with its evidence.
 *
 * Pure: takes loaded runs and an optional history; reads no store and prints nothing. Cells that only one
 * side has, and cells that stopped or started to work, are findings and never dropped. The evidence
 * determines the method (enum compare_method): Student's t about the levels of enough nights, else the tests
 * of repetitions that so many values allow, else the plan's threshold and the noise. The false discovery rate
 * is controlled over all cells with a p-value.
 */
#pragma once

#include "results/judge/cause.h"
#include "results/judge/facts.h"
#include "results/judge/nights/history.h"
#include "results/judge/openings.h"
#include "results/judge/verdict.h"

struct nights;

struct comparison {
    struct common_shift shift;
    struct card_shifts cards;
    char base_id[RUN_ID_MAX];
    char now_id[RUN_ID_MAX];
    char base_ticket[RUN_NAME_MAX]; /* empty without a base */
    char now_ticket[RUN_NAME_MAX];
    /* By variant in now's order, then context, then metric; cells that only the base has come last. */
    struct delta *deltas;
    size_t count;
    struct fact_change *facts;
    size_t n_facts;
    struct run_carried
        *carried; /* cells that this run did not measure, as nothing changed: no delta is theirs */
    size_t n_carried;
    struct acceptance *accepted; /* that cells are to be told of */
    size_t n_accepted;
    struct history seen;         /* by the primary metric, from the GPUs of this run, and */
    struct nights *nights;       /* the model of it that the cells were judged by */
    struct causes causes;        /* of the changed cells; empty until they are looked for (causes_find.h) */
    struct openings openings;    /* of the same; empty until they are looked for (openings_load.h) */
    bool mixed_base;             /* the base's runs are of different sources: no build is the base's */
    bool sourceless;             /* neither run has sources: both sides of turns would be the same program */
    bool half_sourced;           /* only one run has sources: there are no two sides to measure alternately */
    int node_cells;              /* suspects that confirming put down to the node */
    enum metric primary;         /* compare_primary() */
    size_t tested;               /* cells of the primary metric that have a p-value */
    int verdicts[VERDICT_COUNT]; /* counts, of the primary metric */
};

/* The metric that decides, from those that either run measured; base may be NULL. */
enum metric compare_primary(const struct run_data *base, const struct run_data *now,
                            const struct compare_options *o);

/* history may be NULL. base may be NULL if there is a history: each cell is then judged against its nights
 * alone. */
void compare_runs(const struct run_data *base, const struct run_data *now, const struct history *history,
                  const struct compare_options *options, struct comparison *out);
void comparison_release(struct comparison *c);
/* Closes the findings of this run that somebody accepted. They are told of, and once more on the night after
 * `last`, the date of the night before; "" if there is none. */
void comparison_accept(struct comparison *c, const struct acceptances *accepted, const char *last);

/* Whether all cells together are slower; not because they were measured on other GPUs, unless measuring both
 * builds alternately on these has put it down to the code. */
bool comparison_shift_regressed(const struct comparison *c);
/* Whether the base is of another plan: what differs may be what the plans ask for, not how it went. */
bool comparison_of_two_tickets(const struct comparison *c);
/* Whether any cell is regressed, broken or missing, or all cells, those of one GPU or the node are slower. */
bool comparison_regressed(const struct comparison *c);
