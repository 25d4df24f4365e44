/* unchanged: the cells of a plan on a node that a run need not measure if nothing that they depend on has
 * changed (their fingerprint, which only the node can find out), from what the store has of them.
 *
 * Such a cell was measured OK the last time that it was to be measured, with the same fingerprint as in an
 * earlier run, both of committed sources; its verdict then was settled; and its turn to be measured in any
 * case has not come. Of all others nothing is listed, so they are measured. The owner calls
 * unchanged_release().
 */
#pragma once

#include "common/base/sha256.h"
#include "results/judge/verdict.h"
#include "results/store/store.h"

struct unchanged_cell {
    char variant[RUN_NAME_MAX];
    int context;
    char fingerprint[SHA256_HEX_LEN + 1];
    char measured[CLOCK_DAY_LEN + 1]; /* the date of the run that measured it last */
    int64_t run;                      /* the store's row of that run */
    int64_t since;                    /* runs of the plan after it */
};

struct unchanged {
    struct unchanged_cell *item; /* owned; the one that was not measured for longest comes first */
    size_t count;
};

/* What is asked. */
struct unchanged_request {
    const char *node, *ticket, *mode;
    const char *baseline;                  /* the plan's; "" none: verdicts are about the nights before */
    const struct compare_options *options; /* the plan's */
    int64_t nights;                        /* each cell is measured at least once in so many runs */
};

int unchanged_load(struct store *s, const struct unchanged_request *r, struct unchanged *out,
                   struct err *err);
void unchanged_release(struct unchanged *u);
