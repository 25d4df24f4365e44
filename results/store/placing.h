/* placing: what earlier runs of a plan tell a new one about where its tests should run: the GPU on which each
 * cell was measured last, and the variants that should run alone, because `kernsweep noise --gpus` (table
 * `together`) measured them to be worse while all GPUs of the node work. Errors: ERR_STORAGE. */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

enum { LAST_PLACE_TEXT_MAX = 1024 };

struct last_place {
    char variant[LAST_PLACE_TEXT_MAX];
    int64_t context;
    char gpu[LAST_PLACE_TEXT_MAX]; /* as test.gpu has it; "" unknown */
    double wall_s;                 /* median of the tests of that run; 0: unknown */
    char date[CLOCK_DAY_LEN + 1];  /* of that run */
    int64_t since;                 /* sweeps of the plan after it */
};

typedef void last_place_fn(void *arg, const struct last_place *place);

/* Calls fn for each series of the plan, from its newest sweep with a test that is OK. */
int last_places(struct store *s, const char *node, const char *ticket, const char *mode, last_place_fn *fn,
                void *arg, struct err *err);

enum { NEIGHBOURS_MAX = 256 };

struct suffering {
    char name[NEIGHBOURS_MAX][RUN_NAME_MAX];
    size_t count;
};

/* Loads the variants with a cell whose interval in the primary metric lies beyond `practical`. */
int suffering_load(struct store *s, const char *node, const char *ticket, const char *mode, double practical,
                   struct suffering *out, struct err *err);
