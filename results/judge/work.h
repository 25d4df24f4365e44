/* work: the shape of what the tests of a cell computed. What did different work is not faster or slower.
 * Pure.
 */
#pragma once

#include "results/store/run_data.h"

/* Of the first counted OK test; what it did not print, as the variant's shape ("b4h1") has it. NaN: unknown.
 */
struct run_work work_of(const struct run_data *run, const struct cell *c);
/* Whether the counted OK tests of a cell did different work, as in imports without a column for the shape. */
bool work_varies(const struct run_data *run, const struct cell *c);
/* Whether two cells did different work, as far as it is known: batch, heads or head size. Any may be NULL. */
bool work_differs(const struct run_data *a_run, const struct cell *a, const struct run_data *b_run,
                  const struct cell *b);
/* Whether a cell did other work in one run than in another: the same mixture of shapes is the same work. */
bool work_changed(const struct run_data *a_run, const struct cell *a, const struct run_data *b_run,
                  const struct cell *b);
