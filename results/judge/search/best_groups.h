/* best_groups: the points of one or several runs, in groups to choose from: for each variant of the plan, or
 * over all of them, the points of its axes at each context and shape; with the best of each group. Several
 * runs are the rounds of a search: a point that the last ones did not measure was dropped. Pure.
 */
#pragma once

#include "results/judge/search/best.h"
#include "results/store/run_data.h"

enum { BEST_RUNS_MAX = 32, BEST_TEXT_MAX = 1024 };

struct best_member {
    const struct run_variant *variant; /* in the last run that measured it */
    size_t last_run;
    int failed;               /* repetitions that were not OK */
    int of;                   /* repetitions in all */
    struct best_value *value; /* owned */
};

struct best_group {
    char variant[RUN_NAME_MAX]; /* of the plan; "" over all */
    char shape[BEST_TEXT_MAX];  /* of a kernel plan, or what programs printed of it; "" without one */
    int context;
    struct best_member *member; /* owned; by number of the point */
    struct best_point *point;   /* owned */
    size_t count;
    bool more_is_better;
    bool several_gpus; /* its points were measured on different GPUs, so that nothing is ruled out */
    struct best_answer answer;
};

struct best_groups {
    struct best_group *item;
    size_t count;
    enum metric metric;
};

/* What a point ended as. Too few values to test it: AHEAD is the best by median, BEHIND is beyond it,
 * UNTESTED may be either. */
enum best_finding {
    BEST_WINNER,
    BEST_CANDIDATE,
    BEST_AHEAD,
    BEST_BEHIND,
    BEST_UNTESTED,
    BEST_DROPPED,
    BEST_RULED_OUT,
    BEST_FAILED
};

/* metric: METRIC_COUNT for the primary one. overall: group over all variants, which also happens if no
 * variant has axes. Borrows from the runs. */
int best_groups_make(struct best_groups *out, const struct run_data *runs, size_t n, enum metric metric,
                     bool overall, struct err *err);
void best_groups_release(struct best_groups *g);

const char *best_finding_name(enum best_finding f);
enum best_finding best_group_finding(const struct best_group *g, size_t point, size_t runs);
