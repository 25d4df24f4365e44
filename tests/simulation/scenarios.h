/* scenarios: what is planted into simulated nights, for the table of scripts/bench/judging.
 *
 * A scenario changes a struct simulated between simulated_init() and simulated_measure(); the newest night is
 * judged.
 */
#pragma once

#include "tests/simulation/trial.h"

struct scenario {
    const char *title;
    const char *noise;
    enum against_what against;
    size_t count;        /* of nights, the newest included */
    size_t base;         /* night of the base or baseline, if there is one */
    size_t first, cells; /* that are slower on the newest night */
    double factor;       /* by which */
    size_t since;        /* for how many nights before the newest they are slower already */
    size_t improved;     /* cells that are 20 % faster since so many nights before the newest: */
    size_t improved_for;
    double drift;                                         /* a night, for all cells, after the base */
    enum { CODE_UNKNOWN, CODE_KNOWN, CODE_CHANGED } code; /* identities; changed: of the slower variants */
    bool other_gpu;                                       /* on the newest night */
};

const struct scenario *scenarios(size_t *count);
void scenario_plant(const struct scenario *s, struct simulated *n);
