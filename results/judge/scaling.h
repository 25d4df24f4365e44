/* scaling: how prefill time grows with the context, per variant of one run.
 *
 * For each context the factor against the smallest one and what n^2 predicts; for each step the ratio to the
 * one before; for each variant the exponent k of t = a * n^k, fitted on logarithms. Only cells with a median
 * take part.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_SCALING_H
#define KERNSWEEP_RESULTS_JUDGE_SCALING_H

#include "results/store/run_data.h"

struct scaling_row {
    int context;
    double prefill_s;
    double tok_per_s;
    double factor;        /* against the smallest context */
    double expected;      /* (n / n0)^2 */
    double step;          /* against the context before; NaN in the first row */
    double step_expected; /* (n / n_before)^2; NaN in the first row */
};

struct scaling {
    size_t variant;           /* index into run->variants */
    struct scaling_row *rows; /* by context */
    size_t count;
    double exponent; /* k; NaN with fewer than 2 contexts */
    double residual; /* root mean square of the fit, in log units; NaN with fewer than 3 */
};

struct scaling_set {
    struct scaling *items; /* one per variant that has any median, in plan order */
    size_t count;
};

int scaling_of_run(const struct run_data *run, struct scaling_set *out, struct err *err);
void scaling_set_release(struct scaling_set *s);

#endif
