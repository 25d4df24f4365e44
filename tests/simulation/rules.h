/* rules: simple rules that call cells of one night slower, to compare the judge with.
 *
 * A rule reads tonight's values and the nights before of each cell and knows nothing else. Pure; aborts
 * without memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One cell, lower is better. */
struct rule_cell {
    const double *nights; /* medians, oldest first; tonight is not among them */
    size_t n_nights;
    const double *now; /* tonight's repetitions */
    size_t n_now;
    const double *last; /* last night's repetitions */
    size_t n_last;
    /* The same night, after tonight's: last night's build, tonight's, and last night's once more; 0 of each
     * if nobody measured them, as in histories. */
    const double *first, *again, *third;
    size_t n_again;
};

enum rule {
    RULE_LAST_TEN,   /* the median is 5 % above the median of the last ten nights */
    RULE_WELCH,      /* slower than last night by Welch's test at 5 %, adjusted over the cells */
    RULE_OTAVA,      /* a change to slower in the last five nights that was not there without tonight */
    RULE_MODIFIED_Z, /* of the rate against the last 20: z below -3 and a drop of 5 %; none where these
                        scatter */
    RULE_A_B_A, /* slower than the mean of both runs of the last build by 3 %, and by more than they differ */
    RULE_REPEATED, /* the median is 5 % above last night's, and measured once more it still is */
    RULE_COUNT
};

const char *rule_name(enum rule r);
void rule_apply(enum rule r, const struct rule_cell *cells, size_t count, bool *slower);
