/* Plots: every picture of the report with its caption, the history of the verdicts first. */
#include "reports/sections/section.h"

void section_plots(const struct report_model *m, struct md *w)
{
    static const enum figure_kind order[] = {FIGURE_HISTORY, FIGURE_SPEEDUP, FIGURE_SCALING, FIGURE_MEMORY};
    const struct md_part part = md_part_begin(w, 2, MSG_H_PLOTS);
    (void)m;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        md_figures(w, order[i]);
    md_part_end(w, &part);
}
