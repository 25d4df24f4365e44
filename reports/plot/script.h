/* plot_script: what gnuplot is told to draw. Appends the commands of one picture, or nothing when the model
 * holds too little for it. Names are reduced to plain characters on the way in. Private to plot.c.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_SCRIPT_H
#define KERNSWEEP_REPORTS_PLOT_SCRIPT_H

#include "reports/model/model.h"

enum { PLOT_LINES_MAX = 16 }; /* variants that a picture tells apart */

/* Each returns whether it wrote a picture. */
bool plot_script_prefill(struct buf *out, const struct report_model *m, enum report_lang lang);
bool plot_script_speedup(struct buf *out, const struct report_model *m, enum report_lang lang);
bool plot_script_memory(struct buf *out, const struct report_model *m, enum report_lang lang);
bool plot_script_history(struct buf *out, const struct report_model *m, const struct history_series *series,
                         enum report_lang lang);

/* Appends s in single quotes, with everything but plain characters as '?'. */
void plot_label(struct buf *out, const char *s);

#endif
