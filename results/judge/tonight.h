/* tonight: what a run's cells are expected at, for one metric: by the nights before, or by the base alone.
 *
 * Also finds what all cells have in common tonight. Pure. The owner calls tonight_release(), and keeps runs
 * and history alive until then.
 */
#pragma once

#include "results/judge/evidence.h"
#include "results/judge/nights/own_factor.h"
#include "results/judge/strata.h"
#include "results/judge/verdict.h"

struct tonight {
    const struct run_data *base; /* may be NULL */
    const struct run_data *now;
    const struct compare_options *o;
    enum metric metric;
    struct history seen; /* the history as seen from tonight's GPUs */
    struct nights nights;
    bool moved;      /* most cells are on a GPU that their level was not measured on */
    bool base_moved; /* the same of the base */
    struct level factor_level;
    bool base_is_newer; /* than the nights that would say what factor is usual: then the base says it */
    bool accepted;      /* what is usual was accepted by itself, since the base */
    struct common_shift shift;
    struct card_shifts cards;
    /* Of cards that differ by themselves: from the newest nights, from the base's, and from the base's own
     * run. */
    struct own_factors own, own_since_base, own_since_run;
    double even_factor;   /* what cells at their levels have in common, as each night of the model has it */
    bool uneven;          /* too many cells are worse tonight for a verdict on each */
    bool removed;         /* the common factor is taken out of each cell, else cells are judged with it */
    double factor;        /* its logarithm, about the nights' levels */
    double base_factor;   /* of the base, if it is none of the nights; NaN when unknown */
    double pair_factor;   /* of base and now alone; 0 when none */
    double pair_error;    /* its standard error */
    bool pair_is_open;    /* it is not read from controls */
    bool open_since_base; /* nor is what the cells have in common now and had not with the base */
};

/* history may be NULL. */
void tonight_open(struct tonight *t, const struct run_data *base, const struct run_data *now,
                  const struct history *history, enum metric m, const struct compare_options *o);
void tonight_release(struct tonight *t);

/* Of the cell on this GPU. e has the values of both sides; fills in e->nights, cell, expected and common.
 * base may be NULL. */
void tonight_expect(const struct tonight *t, const struct cell *base, const struct cell *now, uint64_t device,
                    struct evidence *e, struct delta *d);

/* What both halves of this module (tonight.c, tonight_expect.c) ask about one cell. */

/* NULL if the base has none. */
const struct cell *tonight_base_cell(const struct tonight *t, const struct cell *now);
/* c may be NULL. */
bool tonight_is_measured(const struct cell *c, enum metric m);
/* NULL if too few nights measured the cell, or none are seen from this GPU. */
const struct night_cell *tonight_enough_nights(const struct tonight *t, const struct run_data *run,
                                               const struct cell *cell, uint64_t device);
/* Whether its code is known, and is that of the level's nights, and the plan runs it as before. */
bool tonight_is_control(const struct tonight *t, const struct night_cell *c, const struct level *l,
                        const struct cell *now);
/* What the filter knows of the cell: as seen from its GPU, or if no night ran there, from others. */
const struct standing *tonight_standing(const struct night_cell *c);
/* Sets even_factor and uneven. values: scratch, for all tests of the run. */
void tonight_find_uneven(struct tonight *t, double *values);
