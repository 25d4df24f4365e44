/* plot: the pictures of a report, as SVG that reads on light and on dark paper and without colour.
 *
 * A struct plot_set is filled once from the model: prefill time over context, speed against the reference,
 * memory over time, history of a cell. All pictures come from one gnuplot process; what cannot be drawn is
 * left out, and why is said in `unavailable`. The same data give the same bytes with the same gnuplot. Labels
 * lose everything but plain characters, so that names cannot write script. The owner calls
 * plot_set_release().
 */
#ifndef KERNSWEEP_REPORTS_PLOT_PLOT_H
#define KERNSWEEP_REPORTS_PLOT_PLOT_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "reports/words/message.h"

#include <stdbool.h>
#include <stddef.h>

enum plot_kind { PLOT_PREFILL, PLOT_SPEEDUP, PLOT_MEMORY, PLOT_HISTORY, PLOT_KIND_COUNT };

enum { PLOTS_MAX = 8, PLOT_NAME_MAX = 64, PLOT_ALT_MAX = 512 };

struct plot {
    enum plot_kind kind;
    char name[PLOT_NAME_MAX]; /* file name: "prefill.svg" */
    char alt[PLOT_ALT_MAX];   /* what it shows, in the report's language */
    char *svg;                /* NULL until drawn */
};

struct plot_set {
    struct plot items[PLOTS_MAX];
    size_t count;
    char unavailable[256]; /* why there are none although there was something to draw; "" otherwise */
};

struct report_model;

/* Only memory can fail; a missing gnuplot is no error. */
int plot_set_draw(struct plot_set *set, const struct report_model *m, enum report_lang lang, struct err *err);
void plot_set_release(struct plot_set *set);

/* Writes each to <dir>/<name>. */
int plot_set_save(const struct plot_set *set, const char *dir, struct err *err);

#endif
