/* unchanged: the cells of a plan on a node that a run need not measure if nothing that they depend on has
 * changed (their fingerprint, which only the node can find out), from what the store has of them.
 *
 * Such a cell was measured OK the last time that it was to be measured, with the same fingerprint as in an
 * earlier run, both of committed sources; it is open if its verdict then was not settled. Of all others
 * nothing is listed, so they are measured. The owner calls unchanged_release().
 */
#pragma once

#include "common/base/sha256.h"
#include "results/judge/verdict.h"
#include "results/store/store.h"

struct unchanged_cell {
    char variant[RUN_NAME_MAX];
    int context;
    char fingerprint[SHA256_HEX_LEN + 1];
    int64_t run; /* the store's row of the run that measured it last */
    bool open;
};

struct unchanged {
    struct unchanged_cell *item; /* owned; by run */
    size_t count;
};

/* What is asked. */
struct unchanged_request {
    const char *node, *ticket, *mode;
    const char *baseline;                  /* the plan's; "" none: verdicts are about the nights before */
    const struct compare_options *options; /* the plan's */
};

int unchanged_load(struct store *s, const struct unchanged_request *r, struct unchanged *out,
                   struct err *err);
void unchanged_release(struct unchanged *u);
