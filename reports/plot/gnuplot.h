/* gnuplot: runs the program gnuplot on a script and collects what it draws.
 *
 * A child process with a deadline, no shell, no configuration of the user's, its locale fixed. The script
 * goes in and SVG documents come out through sockets; nothing touches a file. Knows nothing of plots
 * (plot.h). Errors: ERR_STORAGE when the program is missing, fails, or does not end in time; a caller that
 * can do without pictures goes on.
 */
#ifndef KERNSWEEP_REPORTS_PLOT_GNUPLOT_H
#define KERNSWEEP_REPORTS_PLOT_GNUPLOT_H

#include "common/base/buf.h"
#include "common/base/err.h"

/* Appends the standard output. `out` must be initialised; its maximum bounds what is taken. */
int gnuplot_run(const struct buf *script, double deadline_s, struct buf *out, struct err *err);

#endif
