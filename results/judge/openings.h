/* openings: when each finding of a comparison began, with which commits, and the commit that a search found.
 *
 * Plain data, filled in by results/query/openings_load.h; pure. The owner calls openings_release().
 */
#pragma once

#include "results/store/commit_range.h"

struct opening {
    char variant[RUN_NAME_MAX];
    int context;
    int64_t since;               /* when the first night of the finding was measured; ms since the epoch */
    struct commit_range commits; /* from the last night on which the cell was well, to that one */
    /* The commit that a search found for the cell, or the first and the last of those that it may be; "": no
     * search has found one. */
    char found[COMMIT_ID_MAX], found_last[COMMIT_ID_MAX];
    char subject[RUN_SUBJECT_MAX]; /* of the commit, if there is only one; "" when unknown */
};

struct openings {
    struct opening *items;
    size_t count;
};

void openings_release(struct openings *o);
/* NULL: the cell is as before, or nothing is known of when it changed. */
const struct opening *openings_of(const struct openings *o, const char *variant, int context);
