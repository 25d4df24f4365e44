/* scaling: how the time grows with the context, per variant of one run: that of prefill, else of kernels.
 *
 * For each context: the factor relative to the smallest one, the factor that n^2 predicts for a prefill, and
 * both relative to the previous context. Nothing is predicted for a kernel, which may be any. For each
 * variant: the exponent k of t = a * n^k, fitted on logarithms. Cells without a median are left out.
 */
#pragma once

#include "results/store/run_data.h"

struct scaling_row {
    int context;
    double value;
    double tok_per_s;
    double factor;        /* relative to the smallest context */
    double expected;      /* (n / n0)^2; NaN if nothing is predicted */
    double step;          /* relative to the previous context; NaN in the first row */
    double step_expected; /* (n / n_previous)^2; NaN in the first row, and if nothing is predicted */
    double step_low;      /* the fastest repetition relative to the slowest one of the previous context: step
                           * itself with one repetition each; NaN in the first row */
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
    enum metric metric;
};

void scaling_of_run(const struct run_data *run, struct scaling_set *out);
void scaling_set_release(struct scaling_set *s);
