/* script: what the pictures (picture.h) have in common as gnuplot commands: page, axes, labels, and how a
 * variant looks. Names are reduced to plain characters on the way in. Private to plot/.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_SCRIPT_H
#define KERNSWEEP_REPORTS_PLOT_SCRIPT_H

#include "reports/model/model.h"

enum { SCRIPT_LINES_MAX = 16 }; /* variants that a picture tells apart */

/* Starts a picture. */
void script_begin(struct buf *out);
/* "set xlabel ...": our own words, which may hold accents. */
void script_axis(struct buf *out, const char *which, enum report_lang lang, enum msg id);
/* Appends s in single quotes; within data blocks only double quotes are quotes. */
void script_label(struct buf *out, const char *s);
void script_data_label(struct buf *out, const char *s);

/* A variant looks the same in every picture of a report: the reference is 0, the others follow as the plan
 * lists them. Not to be drawn from SCRIPT_LINES_MAX on. */
size_t script_style(const struct report_model *m, size_t variant);
const char *script_colour(size_t style);
/* " with lines ..." or linespoints. */
void script_line(struct buf *out, size_t style, bool points);

/* A stored value of the primary metric as it is shown. */
double script_value(const struct report_model *m, double stored);

#endif
