/* cause_run: a run as causes are read from it, and what differs between two of them. */
#pragma once

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
