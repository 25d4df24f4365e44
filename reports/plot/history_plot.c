/* History of one cell: the median of each run, what this run is judged against with the threshold around it,
 * changes of level, and this run. */
#include "reports/model/insight.h"
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>

/* More points than this would merge into a line. */
enum { MARKS_MAX = 120, KEY_ENTRIES = 5, KEY_LONGEST = 16 };

/* This run is at 0, the nights before it at -1, -2 ... */
static double place(const struct history_series *s, size_t at)
{
    return (double)at - (double)s->count;
}

enum msg picture_history_reference(const struct delta *d)
{
    return d->reference.kind == REFERENCE_LEVEL ? MSG_PLOT_EXPECTED : MSG_PLOT_BASE;
}

/* The value that the verdict refers to, and the threshold around it. */
static bool reference_line(struct buf *out, const struct report_model *m, const struct delta *d)
{
    double value = script_value(m, d->reference.value);
    if (!isfinite(d->reference.value))
        return false;
    buf_printf(out,
               "set object 1 rectangle from graph 0, first %.9g to graph 1, first %.9g behind "
               "fc rgb 'gray' fs solid 0.25 noborder\n"
               "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lw 2 lc rgb '%s'\n",
               value * (1 - d->estimate.threshold), value * (1 + d->estimate.threshold), value, value,
               script_colour(2));
    return true;
}

/* Marks each change between the last point of the old level and the first of the new one. */
static bool change_marks(struct buf *out, const struct report_model *m, const struct history_series *s)
{
    bool any = false;
    for (size_t i = 0; i < m->history.n_changes; i++) {
        if (m->history.changes[i].series != s)
            continue;
        buf_printf(
            out,
            "set arrow from first %.1f, graph 0 to first %.1f, graph 1 nohead lw 1 dt 2 lc rgb 'black'\n",
            place(s, m->history.changes[i].at) - 0.5, place(s, m->history.changes[i].at) - 0.5);
        any = true;
    }
    return any;
}

static void date_tics(struct buf *out, const struct report_model *m, const struct plotted_series *p)
{
    buf_puts(out, "set xtics (");
    for (size_t i = 0; i < p->tics; i++) {
        script_label(out, p->tic[i].date);
        buf_printf(out, " %g, ", place(p->series, p->tic[i].at));
    }
    script_label(out, m->now.info.date);
    buf_puts(out, " 0)\n");
}

/* Draws one standard deviation of the repetitions on either side, where it is known. */
static void points(struct buf *out, const struct report_model *m, const struct history_series *s)
{
    buf_puts(out, "$d0 << END\n");
    for (size_t i = 0; i < s->count; i++) {
        const struct history_point *p = &s->points[i];
        buf_printf(out, "%g %.9g", place(s, i), script_value(m, p->median));
        script_error_columns(out, script_value(m, p->median * (1 - p->within)),
                             script_value(m, p->median * (1 + p->within)));
    }
    buf_puts(out, "END\n");
}

static bool this_run(struct buf *out, const struct report_model *m, const struct history_series *s)
{
    const struct cell *now = run_data_cell(&m->now, s->variant, s->context);
    if (!now || !isfinite(now->median[s->metric]))
        return false;
    double value = now->median[s->metric], deviation = insight_spread(&m->now, now, s->metric).deviation;
    buf_printf(out, "$d1 << END\n0 %.9g", script_value(m, value));
    script_error_columns(out, script_value(m, value - deviation), script_value(m, value + deviation));
    buf_puts(out, "END\n");
    return true;
}

bool picture_history(struct buf *out, const struct report_model *m, const struct plotted_series *p,
                     enum report_lang lang)
{
    const struct history_series *s = p->series;
    script_begin(out, KEY_ENTRIES, KEY_LONGEST);
    script_axis(out, "xlabel", lang, MSG_PLOT_NIGHT);
    script_value_axis(out, &m->primary, lang);
    date_tics(out, m, p);
    bool referred = reference_line(out, m, p->delta), changed = change_marks(out, m, s);
    buf_puts(out, "set offsets graph 0.04, graph 0.04, graph 0.1, graph 0.1\n");
    points(out, m, s);
    bool measured = this_run(out, m, s);
    buf_puts(out, "plot ");
    script_errors(out, "d", 0, script_colour(0));
    buf_printf(out, ", $d0 using 1:2 title '%s'", message(lang, MSG_PLOT_NIGHTS));
    script_line(out, 0, s->count <= MARKS_MAX);
    if (measured) {
        buf_puts(out, ", ");
        script_errors(out, "d", 1, script_colour(1));
        buf_printf(out, ", $d1 using 1:2 with points pt 5 ps 1.4 lc rgb '%s' title '%s'", script_colour(1),
                   message(lang, MSG_PLOT_THIS_RUN));
    }
    if (referred)
        buf_printf(out,
                   ", keyentry with lines lw 2 lc rgb '%s' title '%s'"
                   ", keyentry with boxes fc rgb 'gray' fs solid 0.25 noborder title '%s'",
                   script_colour(2), message(lang, picture_history_reference(p->delta)),
                   message(lang, MSG_PLOT_BAND));
    if (changed)
        buf_printf(out, ", keyentry with lines lw 1 dt 2 lc rgb 'black' title '%s'",
                   message(lang, MSG_PLOT_CHANGE));
    buf_putc(out, '\n');
    return true;
}
