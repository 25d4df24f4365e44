/* ab_output: the result of `ab` as text, as one comment for a pull request, and as JSON. Subjects, names and
 * reasons are untrusted, so each format escapes them. Prints nothing.
 */
#pragma once

#include "harness/commands/measure/ab_side.h"
#include "reports/render/table.h"
#include "results/judge/verdict.h"

struct ab_cell {
    struct delta delta;
    bool same_code; /* so there is nothing to measure */
    bool of_device; /* only device code was compared, not the host's */
    bool failed;    /* the head was not built, or its tests fail */
    bool open;      /* another round may still decide or confirm it */
    double control; /* the base against itself: every second of its runs to the others; NaN if not measured */
    int slower;     /* number of rounds after which it was regressed */
    int faster;     /* number of rounds after which it was improved */
    bool smoke;     /* of the plan's tier */
    bool chosen;    /* for the round that is measured */
    bool left_out;  /* the budget does not suffice for any round of it */
    double round_s; /* what a round of it takes; NaN: unknown */
};

struct ab_result {
    const struct ab_side *base, *head;
    const char *ticket, *node;
    char gpu[RUN_FACT_MAX]; /* "" when unknown */
    const struct ab_cell *cells;
    size_t count;
    enum metric metric;
    int rounds;
    int exit_code;
};

void ab_write_text(const struct ab_result *r, struct screen screen, struct buf *out);
void ab_write_markdown(const struct ab_result *r, struct buf *out);
json_t *ab_encode(const struct ab_result *r);
