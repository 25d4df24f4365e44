/* simulated: simulated nights of one plan: how a node varies (struct noise), what was planted, and the runs
 * and the history that the judge reads.
 *
 * The same model and seed give the same nights. Knows nothing of verdicts, so that it cannot be tuned to
 * them. Order of use: simulated_init(), plant, simulated_measure(), then read. The owner calls
 * simulated_release(); runs and histories are released as usual. Without memory it aborts: it only serves
 * tests and benchmarks.
 */
#pragma once

#include "results/judge/nights/history.h"
#include "results/stats/stats.h"

enum {
    SIMULATED_VARIANTS = 5,
    SIMULATED_CONTEXTS = 8,
    SIMULATED_CELLS = SIMULATED_VARIANTS * SIMULATED_CONTEXTS,
    SIMULATED_REPETITIONS = 3,
    SIMULATED_REPETITIONS_MAX = 10,
};

/* Relative spreads (standard deviations) and sizes; 0: none of it. */
struct noise_model {
    const char *name;
    double node;        /* one factor a night, for all cells */
    double node_memory; /* of that factor: the coefficient of AR(1) */
    double cell;        /* a factor of each cell and night */
    double cell_memory;
    double within;      /* of each test */
    double clock_night; /* two clock states so far apart: the slow one holds for 3 nights of 10, */
    double clock_test;  /* for 3 tests of 10, */
    double clock_cut;   /* or from one test of the night to its end, in every second night */
    double tail;        /* 1 test of 20 takes so much longer */
    double drift;       /* a night, for all cells */
    double spike;       /* 1 of 50 cells and nights, but not the newest night, takes so much longer */
    double spikes;      /* of cells and nights: the cell takes 6 to 30 % more for that one night */
    double uneven;      /* of nights: each cell takes more, by a size of its own about this median: */
    double uneven_by;
    double states;      /* every fourth cell has two states so far apart, and stays in each for some nights */
    double step;        /* values are multiples of this share of the cell's level */
    double tick;        /* values are multiples of this, in the metric's unit */
    double low, high;   /* range of the cells' levels; 0: 0.05 to 5 */
    enum metric metric; /* METRIC_PREFILL_S unless given */
};

/* What judging.md of the statistics names, and mixtures of it. */
const struct noise_model *noise_models(size_t *count);
/* NULL if there is none. */
const struct noise_model *noise_model_named(const char *name);

struct simulated {
    const struct noise_model *model;
    size_t count; /* the newest is count - 1 */
    struct stats_rng rng;
    double level[SIMULATED_CELLS];
    double phase[SIMULATED_CELLS]; /* where the steps lie */
    double *factor;                /* planted: [night * SIMULATED_CELLS + cell] */
    double last[SIMULATED_CELLS];  /* what the newest night does to a cell, before what was planted */
    double *shots;    /* [(night * SIMULATED_CELLS + cell) * SIMULATED_REPETITIONS_MAX + repetition] */
    int *repetitions; /* of a night */
    uint64_t *code;   /* [night * SIMULATED_VARIANTS + variant]; 0: unknown */
    uint64_t *gpu;    /* of a night; 0: unknown */
};

void simulated_init(struct simulated *n, const struct noise_model *model, size_t count, uint64_t seed);
void simulated_release(struct simulated *n);

/* A range of cells takes `factor` times as long on nights [from, to). */
void simulated_plant(struct simulated *n, size_t first_cell, size_t cells, size_t from, size_t to,
                     double factor);
/* Every variant has a code identity, the same on all nights. */
void simulated_identify(struct simulated *n);
/* From this night on, the variant has other code. */
void simulated_change_code(struct simulated *n, size_t variant, size_t from);
/* From this night on, another GPU; before it, a known one. */
void simulated_swap_gpu(struct simulated *n, size_t from);

void simulated_measure(struct simulated *n);

/* Measures the build of a night once more, under the conditions of the newest night. Returns how many values.
 */
size_t simulated_again(struct simulated *n, size_t build, size_t cell, double out[SIMULATED_REPETITIONS]);
double simulated_median(const struct simulated *n, size_t night, size_t cell);
/* The repetitions of one cell; *count of them. */
const double *simulated_shots(const struct simulated *n, size_t night, size_t cell, size_t *count);
/* "baseline", "v1" ..., and the contexts 256, 512 ... */
const char *simulated_variant(size_t cell);
int simulated_context(size_t cell);
/* The cell that a delta is about. */
size_t simulated_cell(const char *variant, int context);

/* Nights [from, to) as the history of a later one. */
struct history simulated_history(const struct simulated *n, size_t from, size_t to);
struct run_data simulated_run(const struct simulated *n, size_t night);

/* Runs of one session after the last night: conditions of node and cells are drawn once for all of them. */
struct session {
    double conditions[SIMULATED_CELLS];
};
void session_init(struct session *s, struct simulated *n);
/* The build of `night`, with what was planted in it then. */
struct run_data session_run(struct session *s, struct simulated *n, size_t night);
