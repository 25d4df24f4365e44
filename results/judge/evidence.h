/* evidence: what is known of one metric of one cell before it is judged: the values of both sides, and what
 * the nights expect. Plain data. */
#pragma once

#include "results/judge/nights/nights.h"
#include "results/judge/t_limit.h"
#include "results/judge/verdict.h"

/* What the nights say of tonight's value. */
struct expectation {
    enum reference_kind against;
    double value;        /* expected tonight, common factor included */
    double common;       /* that factor; 1 when none */
    bool factor_is_open; /* it is unusual, and perhaps that of code that not all cells share */
    bool own_is_open;    /* the GPU's own factor is, too */
    double own;          /* the GPU's own factor in it; 1 when none */
    size_t nights;       /* behind it */
    bool raw;            /* tonight's common factor is not in it, so that it counts as noise */
    /* A stored base: what it was, without regard to what all cells have in common tonight, so that a slow
     * drift of all of them is seen; NaN without one. */
    double drifted;
    /* A stored base: what the newest nights expect tonight, if they have left its level; NaN if not. */
    double current;
    double current_common; /* tonight's common factor in it */
    double current_own;    /* and that of the GPU */
    size_t current_nights;
    /* Whether tonight continues or completes a finding: against the newest nights, and against `value`. */
    struct stand since_level, since_value;
    bool control;
    bool other_device; /* no night behind it was measured on tonight's GPUs */
};

struct evidence {
    const double *base; /* values of the counted OK repetitions; NULL when there is no base */
    size_t base_n;
    const double *now;
    size_t now_n;
    double common;               /* the two runs' common factor, when they are compared alone; 1 when none */
    double common_error;         /* the standard error of its logarithm */
    bool factor_is_open;         /* nobody knows whether that is the node's or shared code's */
    bool own_is_open;            /* the same of the GPU's own factor */
    double own;                  /* the GPU's own factor between the two runs; 1 when none */
    const struct nights *nights; /* NULL when there are none */
    const struct night_cell *cell; /* NULL when no night measured it */
    struct expectation expected;   /* REFERENCE_NONE: compare the repetitions */
    double exact;                  /* an exact metric's value the night before; NaN when there is none */
    bool other_device;             /* the base was measured on another GPU */
    double noise;                  /* relative spread between runs in an A/A sweep; NaN if unknown */
    struct t_limit *limit;         /* of the intervals, shared by the cells; NULL when there are no nights */
};
