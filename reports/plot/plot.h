/* plot: draws the pictures of a report, as SVG that reads on light and on dark backgrounds and without
 * colour.
 *
 * Time over context, speed against the reference, memory over time, history of a cell: all from one gnuplot
 * process. What cannot be drawn is left out, and why is said in `unavailable`. The same data give the same
 * bytes with the same gnuplot. Labels lose everything but plain characters, so that names cannot inject
 * script. The caller calls figure_set_release().
 */
#ifndef KERNSWEEP_REPORTS_PLOT_PLOT_H
#define KERNSWEEP_REPORTS_PLOT_PLOT_H

#include "reports/model/model.h"
#include "reports/render/figure.h"

/* Only memory can fail; a missing gnuplot is no error. */
int plot_draw(const struct report_model *m, enum report_lang lang, struct figure_set *set, struct err *err);

#endif
