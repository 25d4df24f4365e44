/* svg: turns gnuplot's SVG into pictures that fit a report: a title for screen readers, foreground and
 * background that follow the reader's colour scheme, nothing that names the program or its version. Private
 * to plot/.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_SVG_H
#define KERNSWEEP_REPORTS_PLOT_SVG_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* The next document of several in a row; *s moves behind it. */
bool plot_svg_next(const char **s, const char *end, const char **start, size_t *len);

/* Appends the finished picture. False for text that is not of the expected form. */
bool plot_svg_finish(struct buf *out, const char *s, size_t len, const char *alt);

#endif
