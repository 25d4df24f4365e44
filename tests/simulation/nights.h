/* nights: simulated nights of one plan: how a node varies (struct noise), what was planted, and the runs and
 * the history that the judge reads.
 *
 * The same model and seed give the same nights. Knows nothing of verdicts, so that it cannot be tuned to
 * them. Order of use: nights_init(), plant, nights_measure(), then read. The owner calls nights_release();
 * runs and histories are released as usual. Without memory it aborts: it only serves tests and benchmarks.
 */
#ifndef KERNSWEEP_TESTS_SIMULATION_NIGHTS_H
#define KERNSWEEP_TESTS_SIMULATION_NIGHTS_H

#include "results/judge/history.h"
#include "results/stats/stats.h"

enum {
    NIGHTS_VARIANTS = 5,
    NIGHTS_CONTEXTS = 8,
    NIGHTS_CELLS = NIGHTS_VARIANTS * NIGHTS_CONTEXTS,
    NIGHTS_REPETITIONS = 3,
    NIGHTS_REPETITIONS_MAX = 10,
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
    double step;        /* values are multiples of this share of the cell's level */
    double tick;        /* values are multiples of this, in the metric's unit */
    double low, high;   /* range of the cells' levels; 0: 0.05 to 5 */
    enum metric metric; /* METRIC_PREFILL_S unless given */
};

/* What judging.md of the statistics names, and mixtures of it. */
const struct noise_model *noise_models(size_t *count);
/* NULL if there is none. */
const struct noise_model *noise_model_named(const char *name);

struct nights {
    const struct noise_model *model;
    size_t count; /* the newest is count - 1 */
    struct stats_rng rng;
    double level[NIGHTS_CELLS];
    double phase[NIGHTS_CELLS]; /* where the steps lie */
    double *factor;             /* planted: [night * NIGHTS_CELLS + cell] */
    double *shots;              /* [(night * NIGHTS_CELLS + cell) * NIGHTS_REPETITIONS_MAX + repetition] */
    int *repetitions;           /* of a night */
    uint64_t *code;             /* [night * NIGHTS_VARIANTS + variant]; 0: unknown */
    uint64_t *gpu;              /* of a night; 0: unknown */
};

void nights_init(struct nights *n, const struct noise_model *model, size_t count, uint64_t seed);
void nights_release(struct nights *n);

/* A range of cells takes `factor` times as long on nights [from, to). */
void nights_plant(struct nights *n, size_t first_cell, size_t cells, size_t from, size_t to, double factor);
/* Every variant has a code identity, the same on all nights. */
void nights_identify(struct nights *n);
/* From this night on, the variant has other code. */
void nights_change_code(struct nights *n, size_t variant, size_t from);
/* From this night on, another GPU; before it, a known one. */
void nights_swap_gpu(struct nights *n, size_t from);

void nights_measure(struct nights *n);

double nights_median(const struct nights *n, size_t night, size_t cell);
/* The repetitions of one cell; *count of them. */
const double *nights_shots(const struct nights *n, size_t night, size_t cell, size_t *count);
/* "baseline", "v1" ..., and the contexts 256, 512 ... */
const char *nights_variant(size_t cell);
int nights_context(size_t cell);
/* The cell that a delta is about. */
size_t nights_cell(const char *variant, int context);

/* Nights [from, to) as the history of a later one. */
struct history nights_history(const struct nights *n, size_t from, size_t to);
struct run_data nights_run(const struct nights *n, size_t night);

/* Runs of one session after the last night: conditions of node and cells are drawn once for all of them. */
struct session {
    double conditions[NIGHTS_CELLS];
};
void session_init(struct session *s, struct nights *n);
/* The build of `night`, with what was planted in it then. */
struct run_data session_run(struct session *s, struct nights *n, size_t night);

#endif
