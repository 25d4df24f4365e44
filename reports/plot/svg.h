/* svg: adapts gnuplot's SVG for a report: adds a title for screen readers, makes foreground and background
 * follow the reader's colour scheme, and removes the program's name and version. Private
 * to plot/.
 */
#pragma once

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* The next document of several in a row; *s is advanced past it. */
bool plot_svg_next(const char **s, const char *end, const char **start, size_t *len);

/* Appends the finished plot. False for text that does not have the expected form. */
bool plot_svg_finish(struct buf *out, const char *s, size_t len, const char *alt);
