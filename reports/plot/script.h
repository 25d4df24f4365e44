/* script: the gnuplot commands that all plots (picture.h) share: page, axes, labels, and the style of each
 * variant. Names are reduced to plain characters first. Private to plot/.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_SCRIPT_H
#define KERNSWEEP_REPORTS_PLOT_SCRIPT_H

#include "reports/model/model.h"

enum { SCRIPT_LINES_MAX = 16 }; /* variants that a plot can distinguish */

/* Starts a plot. */
void script_begin(struct buf *out);
/* "set xlabel ...", with a message of the catalogue, which may contain accents. */
void script_axis(struct buf *out, const char *which, enum report_lang lang, enum msg id);
/* "set ylabel ..." with the quantity's unit. */
void script_value_axis(struct buf *out, const struct quantity *q, enum report_lang lang);
/* Appends s in single quotes; within data blocks only double quotes are quotes. */
void script_label(struct buf *out, const char *s);
void script_data_label(struct buf *out, const char *s);

/* A variant has the same style in every plot of a report: 0 for the reference, then in plan order. Variants
 * from SCRIPT_LINES_MAX on are not drawn. */
size_t script_style(const struct report_model *m, size_t variant);
const char *script_colour(size_t style);
/* " with lines ..." or linespoints. */
void script_line(struct buf *out, size_t style, bool points);

/* A stored value of the primary metric in the unit in which it is shown. */
double script_value(const struct report_model *m, double stored);

#endif
