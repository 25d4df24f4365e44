/* cause_differences: what differs between two runs apart from times: recorded facts and keys of their plans,
 * sorted by what they could explain. Pure.
 *
 * A fact that only one of the runs recorded says nothing, except for variables of the tests: a newer executor
 * records more. A key of the plan that only its text distinguishes (a default that is spelled out) does not
 * differ.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_CAUSES_CAUSE_DIFFERENCES_H
#define KERNSWEEP_RESULTS_JUDGE_CAUSES_CAUSE_DIFFERENCES_H

#include "results/judge/cause.h"
#include "results/store/details.h"

/* A run as causes are read from it. Borrowed. */
struct cause_run {
    const struct run_data *run;
    const struct run_details *details; /* its kernels; may be NULL */
    const json_t *plan;                /* may be NULL */
};

/* Where a difference can have an effect. */
enum cause_scope {
    SCOPE_VARIANT, /* the cells of one variant */
    SCOPE_ALL,
    SCOPES
};

struct cause_differences {
    struct cause_changes toolchain; /* compilers that the variant's build names, and its commands */
    struct cause_changes environment[SCOPES];
    struct cause_changes variables; /* of the environment, the variables: they reach builds as well */
    struct cause_changes limits;    /* of the environment, what limits the GPU's clock */
    struct cause_changes method[SCOPES];
    struct cause_changes device; /* the GPU or the machine */
    bool same_sources;           /* known, and with the same patches */
    bool other_sources;          /* known to differ */
};

/* Of one cell; variant: "" for what concerns all cells. */
int cause_differences(const struct cause_run *before, const struct cause_run *now, const char *variant,
                      int context, struct cause_differences *out, struct err *err);

/* Drops what is not among the differences of an earlier run. Of a list that is longer than it can hold, what
 * it does not hold may be anything. */
void cause_differences_keep(struct cause_differences *d, const struct cause_differences *earlier);

#endif
