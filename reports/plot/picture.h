/* picture: the pictures of a report, as commands for gnuplot. Each appends those of one picture and returns
 * true, or nothing when the model holds too little for it. Private to plot/.
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
