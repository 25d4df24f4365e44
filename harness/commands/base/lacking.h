/* lacking: the cells for which a run that becomes a baseline has no result. Whatever they lose later, they
 * are `fixed` or `new` in every comparison with it, so the one who sets the baseline is told.
 */
#pragma once

#include "results/store/run_data.h"

#include <stdio.h>

/* One line if there are any. */
void note_lacking_cells(FILE *notes, const struct run_data *run);
