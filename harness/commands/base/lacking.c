#include "harness/commands/base/lacking.h"

void note_lacking_cells(FILE *notes, const struct run_data *run)
{
    size_t all = run->n_cells + run->n_unmeasured, lacking = run->n_unmeasured;
    for (size_t i = 0; i < run->n_cells; i++)
        lacking += run->cells[i].status != STATUS_OK;
    if (lacking > 0)
        fprintf(notes,
                "note: %zu of the %zu cells of run %s are not OK: no comparison with this baseline finds a "
                "regression in them\n",
                lacking, all, run->info.run_id);
}
