/* script: the gnuplot commands that all plots (picture.h) share: page, axes, labels, and the style of each
 * variant. Names are reduced to plain characters first. Private to plot/.
 */
#pragma once

#include "reports/model/model.h"

/* Series that a reader can tell apart in one plot; further ones have a panel each in a second picture. */
enum {
    SCRIPT_SERIES_MAX = 8,
    SCRIPT_PANELS_MAX = 24,
    SCRIPT_ALL_MAX = SCRIPT_SERIES_MAX + SCRIPT_PANELS_MAX
};

/* Starts a plot whose legend has so many entries, of at most so many characters: the picture grows with it.
 */
void script_begin(struct buf *out, size_t entries, size_t characters);
/* How many names of variants are in the first picture; *longest: the length of the longest. */
size_t script_names(const struct report_model *m, size_t *longest);
/* Starts a picture of so many small panels, and ends it. Axes are set between the two. */
void script_panels(struct buf *out, size_t panels);
void script_panels_end(struct buf *out);
/* "set xlabel ...", with a message of the catalogue, which may contain accents. */
void script_axis(struct buf *out, const char *which, enum report_lang lang, enum msg id);
/* Tics of a logarithmic axis ("xtics", "ytics"), at powers of ten, or with 2 and 5 between them; about
 * `most`. logarithms: the data are decimal logarithms, on a linear axis. */
void script_log_tics(struct buf *out, const char *which, double low, double high, int most, bool logarithms);
/* "set title ...", of a panel. */
void script_title(struct buf *out, const char *s);
/* "set xlabel ..." of contexts: in tokens only where a prompt or an attention kernel was measured. */
void script_context_axis(struct buf *out, const struct report_model *m, enum report_lang lang);
/* "set ylabel ..." with the quantity's unit. */
void script_value_axis(struct buf *out, const struct quantity *q, enum report_lang lang);
/* Appends s in single quotes. */
void script_label(struct buf *out, const char *s);

/* Whether all variants are points of one, in a plan with axes. Each of them is then a series; else all points
 * of a variant are one, by its name. */
bool script_points_alone(const struct report_model *m);
bool script_same(const struct report_model *m, size_t a, size_t b);
const char *script_name(const struct report_model *m, size_t variant);
/* A variant has the same style in every plot of a report: 0 for the reference, then in plan order. Variants
 * from SCRIPT_ALL_MAX on are not drawn. */
size_t script_style(const struct report_model *m, size_t variant);
const char *script_colour(size_t style);
/* " with lines ..." or linespoints. */
void script_line(struct buf *out, size_t style, bool points);
/* The plot of the error bars of a data block "$<block><index>", whose columns are position, value, low, high.
 */
void script_errors(struct buf *out, const char *block, size_t index, const char *colour);
/* Appends the last two columns of a row, and its end: nothing is drawn if they are not finite or equal. */
void script_error_columns(struct buf *out, double low, double high);

/* A stored value of the primary metric in the unit in which it is shown. */
double script_value(const struct report_model *m, double stored);
