/* picture: the plots of a report as gnuplot commands. Each function appends the commands of one plot and
 * returns true; it appends nothing and returns false if the model has too little data. Private to plot/.
 * There is one file per function.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_PICTURE_H
#define KERNSWEEP_REPORTS_PLOT_PICTURE_H

#include "reports/model/model.h"

bool picture_scaling(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_speedup(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_memory(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_history(struct buf *out, const struct report_model *m, const struct history_series *series,
                     enum report_lang lang);

#endif
