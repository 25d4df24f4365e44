/* last_places: on which GPU each cell of a plan was measured last, and how long its tests took there. */
#ifndef KERNSWEEP_RESULTS_STORE_LAST_PLACES_H
#define KERNSWEEP_RESULTS_STORE_LAST_PLACES_H

#include "results/store/store.h"

#include <stdint.h>

enum { LAST_PLACE_TEXT_MAX = 1024 };

struct last_place {
    char variant[LAST_PLACE_TEXT_MAX];
    int64_t context;
    char gpu[LAST_PLACE_TEXT_MAX]; /* as test.gpu has it; "" unknown */
    double wall_s;                 /* median of the tests of that run; 0: unknown */
};

typedef void last_place_fn(void *arg, const struct last_place *place);

/* For each series of the plan, from its newest sweep with a test that is OK. */
int last_places(struct store *s, const char *node, const char *ticket, const char *mode, last_place_fn *fn,
                void *arg, struct err *err);

#endif
