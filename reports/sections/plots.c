/* Plots: every picture of the report with its caption, the history of the verdicts first. */
#include "reports/sections/section.h"

void section_plots(const struct report_model *m, struct md *w)
{
    static const enum figure_kind order[] = {FIGURE_HISTORY, FIGURE_SPEEDUP, FIGURE_SCALING, FIGURE_MEMORY};
    size_t start = w->out->len;
    (void)m;
    md_heading(w, 2, MSG_H_PLOTS);
    size_t empty = w->out->len;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        md_figures(w, order[i]);
    if (w->out->len == empty)
        md_truncate(w, start);
}
