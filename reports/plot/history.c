/* History of one cell: nightly medians, the threshold around them, changes of level, and this run. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>
#include <string.h>

/* False if the verdict has no history. */
static bool band(struct buf *out, const struct report_model *m, const struct delta *d)
{
    if (!isfinite(d->history_median))
        return false;
    buf_printf(out,
               "set object 1 rectangle from graph 0, first %.9g to graph 1, first %.9g behind "
               "fc rgb 'gray' fs solid 0.25 noborder\n",
               script_value(m, d->history_median) * (1 - d->threshold),
               script_value(m, d->history_median) * (1 + d->threshold));
    return true;
}

/* Between the last point of the old level and the first of the new one. */
static void change_mark(struct buf *out, ptrdiff_t at)
{
    buf_printf(out,
               "set arrow from first %.1f, graph 0 to first %.1f, graph 1 nohead lw 1 dt 2 lc rgb 'black'\n",
               (double)at - 0.5, (double)at - 0.5);
}

bool picture_history(struct buf *out, const struct report_model *m, const struct history_series *series,
                     enum report_lang lang)
{
    const struct cell *now = run_data_cell(&m->now, series->variant, series->context);
    bool banded = false, changed = false;
    script_begin(out);
    script_axis(out, "xlabel", lang, MSG_PLOT_NIGHT);
    script_value_axis(out, &m->primary, lang);
    for (size_t i = 0; i < m->comparison->count; i++) {
        const struct delta *d = &m->comparison->deltas[i];
        if (d->metric == series->metric && d->context == series->context &&
            strcmp(d->variant, series->variant) == 0)
            banded |= band(out, m, d);
    }
    for (size_t i = 0; i < m->n_changes; i++)
        if (m->changes[i].series == series) {
            change_mark(out, (ptrdiff_t)m->changes[i].at - (ptrdiff_t)series->count);
            changed = true;
        }
    buf_puts(out, "set offsets graph 0.02, graph 0.02, graph 0.1, graph 0.1\n$d << END\n");
    for (size_t i = 0; i < series->count; i++)
        buf_printf(out, "%td %.9g\n", (ptrdiff_t)i - (ptrdiff_t)series->count,
                   script_value(m, series->points[i].median));
    buf_puts(out, "END\n");
    if (now && isfinite(now->median[series->metric]))
        buf_printf(out, "$n << END\n0 %.9g\nEND\n", script_value(m, now->median[series->metric]));
    buf_printf(out, "plot $d using 1:2 title '%s'", message(lang, MSG_PLOT_NIGHTS));
    script_line(out, 0, true);
    if (now && isfinite(now->median[series->metric]))
        buf_printf(out, ", $n using 1:2 with points pt 5 ps 1.4 lc rgb '%s' title '%s'", script_colour(1),
                   message(lang, MSG_PLOT_THIS_RUN));
    if (banded)
        buf_printf(out, ", keyentry with boxes fc rgb 'gray' fs solid 0.25 noborder title '%s'",
                   message(lang, MSG_PLOT_BAND));
    if (changed)
        buf_printf(out, ", keyentry with lines lw 1 dt 2 lc rgb 'black' title '%s'",
                   message(lang, MSG_PLOT_CHANGE));
    buf_putc(out, '\n');
    return true;
}
