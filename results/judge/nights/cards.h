/* cards: by how much GPUs of one model differ, as runs show that measured the same cells on several of them.
 *
 * Within such a run the code is the same and the night is the same, so that what remains is the cards. A
 * cell's factor is moderated by what the cells have in common, and its error contains by how much cells
 * disagree. Pure. The owner calls cards_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_NIGHTS_CARDS_H
#define KERNSWEEP_RESULTS_JUDGE_NIGHTS_CARDS_H

#include "results/judge/nights/history.h"

/* Of one cell and two GPUs, over the runs that measured it on both. */
struct card_cell {
    uint64_t from, to; /* from < to */
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    double log;   /* of to / from */
    double error; /* its standard error; NaN when unknown */
    size_t runs;
};

struct cards {
    struct card_cell *items; /* sorted by metric, GPUs, variant, context */
    size_t count, cap;
};

/* What a value of one GPU has to be multiplied by to be of another one. */
struct card_factor {
    bool known;
    double log;   /* 0 if not known */
    double error; /* standard error of the logarithm */
    size_t cells; /* that it was read from */
    size_t runs;
};

/* h: its points name the GPUs, several points of one run are of several GPUs (history_load.h). */
int cards_measure(const struct history *h, struct cards *out, struct err *err);
void cards_release(struct cards *c);

/* Known for equal GPUs, and where the cell or at least three cells were measured on both. cards may be NULL.
 */
struct card_factor cards_factor(const struct cards *c, enum metric m, const char *variant, int context,
                                uint64_t from, uint64_t to);

/* The history as it is seen from the GPUs that `now` ran on: a series of its own for each GPU of a cell.
 *
 * Nights on that GPU, or on an unknown one, are as they were. Nights on another one are multiplied by the
 * factor of the two cards, where it is known; else they stay what they are and come before all others. A run
 * that measured the cell on this GPU has no other point. Only of `m`; with `whole`, each cell has one series,
 * of its first GPU, for those who draw it. *out borrows nothing. */
int cards_align(const struct history *h, const struct run_data *now, const struct cards *c, enum metric m,
                bool whole, struct history *out, struct err *err);

#endif
