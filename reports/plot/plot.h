/* plot: draws the plots of a report as SVG, legible on light and dark backgrounds and without colour.
 *
 * Time over context, speed against the reference, memory over time, history of a cell: all from one gnuplot
 * process. If drawing fails, the set is empty and `unavailable` holds the reason. The same data give the same
 * bytes with the same gnuplot. Labels are reduced to plain characters, so that names cannot inject
 * commands. The caller calls figure_set_release().
 */
#pragma once

#include "reports/model/model.h"
#include "reports/render/figure.h"

/* Fails only without memory; a missing gnuplot is not an error. */
int plot_draw(const struct report_model *m, enum report_lang lang, struct figure_set *set, struct err *err);
