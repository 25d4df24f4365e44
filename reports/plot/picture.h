/* picture: the plots of a report as gnuplot commands. Each function appends the commands of one plot and
 * returns true; it appends nothing and returns false if the model has too little data. Private to plot/.
 * There is one file per subject. A plot shows the first SCRIPT_SERIES_MAX series (script.h); the function
 * with _panels draws the others, one small panel each, on the same axes.
 */
#pragma once

#include "reports/model/model.h"

bool picture_scaling(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_scaling_panels(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_speedup(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_speedup_panels(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_memory(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_memory_panels(struct buf *out, const struct report_model *m, enum report_lang lang);
bool picture_history(struct buf *out, const struct report_model *m, const struct plotted_series *p,
                     enum report_lang lang);

/* What the line of picture_history() is. */
enum msg picture_history_reference(const struct delta *d);
/* The variant from whose first point picture_scaling() draws n^2. */
const char *picture_scaling_guide(const struct report_model *m);
/* Whether the bars of picture_speedup() are on a logarithmic axis. */
bool picture_speedup_is_log(const struct report_model *m);
