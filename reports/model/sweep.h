/* sweep_model: one sweep of several nodes, side by side: each node's run, the cells that any of them
 * measured, how each node stands to the first one with results, and the facts in which they differ.
 *
 * Computed once from the store and from what the caller knows of nodes without a run. Pure arithmetic on
 * medians; it passes no judgement on what a difference means. The owner calls sweep_model_release().
 */
#pragma once

#include "reports/words/quantity.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

/* A node of the sweep, as whoever started it knows it. Borrowed. */
struct sweep_node {
    const char *node;
    const char *failure; /* why it has no run, or "" */
};

struct sweep_side {
    char node[RUN_NODE_MAX];
    char failure[RUN_REASON_MAX]; /* why it has no results; "" if that is not known */
    bool has_run;
    bool measured; /* its run has at least one good test */
    struct run_data run;
    size_t cells; /* that the reference has too, both with a median */
    double ratio, low,
        high; /* to the reference: the median over those cells, the least and the greatest; NaN */
};

/* A cell that any node measured. */
struct sweep_cell {
    char variant[RUN_NAME_MAX];
    int context;
};

/* A fact that is not the same on all measured nodes; without names and addresses, which always differ,
 * and without those of further GPUs that are like the node's first. value: one per side, "" where unknown. */
struct sweep_fact {
    char key[RUN_FACT_MAX];
    const char **value;
};

struct sweep_model {
    char id[RUN_ID_MAX];
    char ticket[RUN_NAME_MAX];
    char date[11];
    struct sweep_side *sides; /* as in the plan, then those that the plan's record does not name */
    size_t n_sides;
    size_t reference; /* the first measured side; n_sides: none */
    struct quantity primary;
    struct sweep_cell *cells; /* in the order of the reference, then of the others */
    size_t n_cells;
    struct sweep_fact *facts; /* by key */
    size_t n_facts, facts_room;
};

/* The value of a side in a cell, relative to the reference's. */
struct sweep_ratio {
    double value; /* the side's median; NaN */
    double ratio; /* NaN without a median on both sides, or for the reference itself */
    double error; /* one standard error of the ratio, from the repetitions; NaN below two on a side */
};

/* nodes: in the order of the plan; may be empty. ERR_INPUT if neither a node nor a run is known. */
int sweep_model_load(struct sweep_model *m, struct store *s, const char *id, const struct sweep_node *nodes,
                     size_t n_nodes, struct err *err);
void sweep_model_release(struct sweep_model *m);

struct sweep_ratio sweep_model_ratio(const struct sweep_model *m, size_t side, const struct sweep_cell *c);
/* NULL if the side did not run it. */
const struct cell *sweep_model_cell(const struct sweep_model *m, size_t side, const struct sweep_cell *c);
