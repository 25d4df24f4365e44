/* gnuplot: runs the program gnuplot on a script and collects what it draws.
 *
 * It runs as a child process with a deadline, without a shell and without the user's configuration, in a
 * fixed locale. The script goes in and SVG documents come out through sockets; no files are used. Knows
 * nothing of plots (plot.h). Errors: ERR_STORAGE when the program is missing, fails, or does not end in time;
 * a caller that can do without plots continues.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

/* Appends the standard output. `out` must be initialised; its maximum bounds what is taken. */
int gnuplot_run(const struct buf *script, double deadline_s, struct buf *out, struct err *err);
