#include "reports/plot_script.h"

#include <math.h>
#include <string.h>

enum { LINES_MAX = 8, LABEL_MAX = 80, POINTS_MAX = 400 };

/* Told apart by colour (safe for colour-blind readers, readable on white and on black), dashes and points. */
struct line_style {
    const char *colour;
    int dash;
    int point;
};

static const struct line_style styles[LINES_MAX] = {
    {"#0072B2", 1, 7},  {"#D55E00", 2, 5}, {"#009E73", 4, 9}, {"#CC79A7", 5, 11},
    {"#8F7200", 1, 13}, {"#7F7F7F", 2, 6}, {"#A65628", 4, 4}, {"#5E81C4", 5, 8},
};

void plot_label(struct buf *out, const char *s)
{
    static const char plain[] = " ()+,-./0123456789:=>ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    buf_putc(out, '\'');
    for (size_t i = 0; s[i] && i < LABEL_MAX; i++)
        buf_add(out, strchr(plain, s[i]) ? &s[i] : "?", 1);
    buf_putc(out, '\'');
}

/* Words of ours may hold accents. */
static void axis(struct buf *out, const char *which, enum report_lang lang, enum msg id)
{
    buf_printf(out, "set %s '%s'\n", which, message(lang, id));
}

static void picture(struct buf *out)
{
    buf_puts(out, "reset\n"
                  "set terminal svg size 640,400 dynamic noenhanced rounded font 'sans-serif,14'\n"
                  "set encoding utf8\nset border 3\nset tics nomirror\nset grid lc rgb 'gray'\n"
                  "set key at graph 0.5, screen 0.98 center top horizontal samplen 2.5 width -1 maxcols 4\n"
                  "set tmargin 3.5\n");
}

static void with_line(struct buf *out, size_t i, bool points)
{
    const struct line_style *s = &styles[i % LINES_MAX];
    buf_printf(out, " with %s lw 2 dt %d lc rgb '%s'", points ? "linespoints" : "lines", s->dash, s->colour);
    if (points)
        buf_printf(out, " pt %d ps 0.8", s->point);
}

static void n_squared_guide(struct buf *out, const struct scaling *s, enum report_lang lang)
{
    const struct scaling_row *first = &s->rows[0], *last = &s->rows[s->count - 1];
    buf_printf(out, "[%d:%d] %.9g*(x/%d.0)**2 with lines lw 1 dt 3 lc rgb 'black' title '%s'", first->context,
               last->context, first->prefill_s, first->context, message(lang, MSG_PLOT_N_SQUARED));
}

/* Room at both ends, so that no point sits on the frame. */
static void context_range(struct buf *out, const struct scaling_set *set)
{
    int low = set->items[0].rows[0].context, high = low;
    for (size_t i = 0; i < set->count; i++) {
        const struct scaling *s = &set->items[i];
        low = s->rows[0].context < low ? s->rows[0].context : low;
        high = s->rows[s->count - 1].context > high ? s->rows[s->count - 1].context : high;
    }
    buf_printf(out, "set xrange [%g:%g]\n", low / 1.1, high * 1.1);
}

static void context_tics(struct buf *out, const struct scaling_set *set)
{
    const struct scaling *widest = &set->items[0];
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].count > widest->count)
            widest = &set->items[i];
    for (size_t k = 0; k < widest->count; k++)
        buf_printf(out, "%s'%d' %d", k ? ", " : "set xtics (", widest->rows[k].context,
                   widest->rows[k].context);
    buf_puts(out, ")\n");
}

/* The reference variant's line, else the first, is what the guide starts from. */
static const struct scaling *guide_of(const struct report_model *m)
{
    const struct scaling *found = NULL;
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        if (s->count > 1 && (!found || s->variant == m->reference))
            found = s;
    }
    return found;
}

bool plot_script_prefill(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct scaling *guide = guide_of(m);
    size_t lines = m->scaling.count < LINES_MAX ? m->scaling.count : LINES_MAX;
    if (!guide)
        return false;
    picture(out);
    axis(out, "xlabel", lang, MSG_PLOT_CONTEXT);
    axis(out, "ylabel", lang, MSG_PLOT_PREFILL);
    buf_puts(out, "set logscale xy\nset format y '%g'\n");
    context_tics(out, &m->scaling);
    context_range(out, &m->scaling);
    for (size_t i = 0; i < lines; i++) {
        const struct scaling *s = &m->scaling.items[i];
        buf_printf(out, "$d%zu << END\n", i);
        for (size_t k = 0; k < s->count; k++)
            buf_printf(out, "%d %.9g\n", s->rows[k].context, s->rows[k].prefill_s);
        buf_puts(out, "END\n");
    }
    buf_puts(out, "plot ");
    n_squared_guide(out, guide, lang);
    for (size_t i = 0; i < lines; i++) {
        buf_printf(out, ", $d%zu using 1:2 title ", i);
        plot_label(out, m->now.variants[m->scaling.items[i].variant].name);
        with_line(out, i, true);
    }
    buf_putc(out, '\n');
    return true;
}

/* The variants that have a bar somewhere, in plan order; the reference is the line at 1. */
static size_t bar_variants(const struct report_model *m, size_t *variants)
{
    size_t n = 0;
    for (size_t v = 0; v < m->now.n_variants && n < LINES_MAX; v++) {
        bool any = false;
        for (size_t i = 0; i < m->n_vs; i++)
            any |= m->vs[i].variant == v && isfinite(m->vs[i].factor);
        if (any && v != m->reference)
            variants[n++] = v;
    }
    return n;
}

static void bar_rows(struct buf *out, const struct report_model *m, const size_t *variants, size_t n)
{
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (c->variant != m->reference || isnan(c->median[m->metric]))
            continue;
        buf_printf(out, "\"%d\"", c->context);
        for (size_t k = 0; k < n; k++) {
            double f = compare_pair(&m->now, variants[k], m->reference, c->context, m->metric).factor;
            if (isfinite(f))
                buf_printf(out, " %.6g", f);
            else
                buf_puts(out, " ?");
        }
        buf_putc(out, '\n');
    }
}

bool plot_script_speedup(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    size_t variants[LINES_MAX];
    size_t n = bar_variants(m, variants);
    if (n == 0)
        return false;
    picture(out);
    axis(out, "xlabel", lang, MSG_PLOT_CONTEXT);
    axis(out, "ylabel", lang, MSG_PLOT_SPEED);
    buf_puts(out, "set style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 noborder\nset yrange [0:*]\n$d << END\n");
    bar_rows(out, m, variants, n);
    buf_puts(out, "END\nplot 1 with lines lw 1 dt 3 lc rgb 'black' title ");
    plot_label(out, report_model_reference(m));
    for (size_t k = 0; k < n; k++) {
        buf_printf(out, ", $d using %zu%s lc rgb '%s' title ", k + 2, k ? "" : ":xtic(1)",
                   styles[k + 1 < LINES_MAX ? k + 1 : 0].colour);
        plot_label(out, m->now.variants[variants[k]].name);
    }
    buf_putc(out, '\n');
    return true;
}

/* At most POINTS_MAX points, each the largest of its span, so that no peak is lost. */
static void trace_rows(struct buf *out, const double *t, const double *bytes, size_t count)
{
    size_t span = count / POINTS_MAX + 1;
    for (size_t i = 0; i < count; i += span) {
        double max = (double)NAN;
        for (size_t k = i; k < i + span && k < count; k++)
            max = fmax(max, bytes[k]);
        if (isfinite(t[i]) && isfinite(max))
            buf_printf(out, "%.3f %.3f\n", t[i], max / (1 << 20));
    }
}

bool plot_script_memory(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_traces && n < LINES_MAX; i++, n++) {
        const struct memory_trace *trace = &m->traces[i];
        if (n == 0) {
            picture(out);
            axis(out, "xlabel", lang, MSG_PLOT_TIME);
            axis(out, "ylabel", lang, trace->vram ? MSG_PLOT_VRAM : MSG_PLOT_RSS);
            buf_puts(out, "set yrange [0:*]\n");
        }
        buf_printf(out, "$d%zu << END\n", i);
        trace_rows(out, trace->t, trace->bytes, trace->count);
        buf_puts(out, "END\n");
    }
    for (size_t i = 0; i < n; i++) {
        struct buf label;
        buf_init(&label, 256);
        buf_printf(&label, "%s, %d", m->now.variants[m->traces[i].variant].name, m->traces[i].context);
        buf_printf(out, "%s$d%zu using 1:2 title ", i ? ", " : "plot ", i);
        plot_label(out, buf_str(&label));
        with_line(out, i, false);
        buf_release(&label);
    }
    buf_puts(out, n ? "\n" : "");
    return n > 0;
}

/* Whether there is one. */
static bool band(struct buf *out, const struct delta *d)
{
    if (!isfinite(d->history_median))
        return false;
    buf_printf(out,
               "set object 1 rectangle from graph 0, first %.9g to graph 1, first %.9g behind "
               "fc rgb 'gray' fs solid 0.25 noborder\n",
               d->history_median * (1 - d->threshold), d->history_median * (1 + d->threshold));
    return true;
}

/* Between the last point of the old level and the first of the new one. */
static void change_mark(struct buf *out, ptrdiff_t at)
{
    buf_printf(out,
               "set arrow from first %.1f, graph 0 to first %.1f, graph 1 nohead lw 1 dt 2 lc rgb 'black'\n",
               (double)at - 0.5, (double)at - 0.5);
}

bool plot_script_history(struct buf *out, const struct report_model *m, const struct history_series *series,
                         enum report_lang lang)
{
    const struct cell *now = run_data_cell(&m->now, series->variant, series->context);
    bool banded = false, changed = false;
    picture(out);
    axis(out, "xlabel", lang, MSG_PLOT_NIGHT);
    axis(out, "ylabel", lang, MSG_PLOT_PREFILL);
    for (size_t i = 0; i < m->comparison.count; i++) {
        const struct delta *d = &m->comparison.deltas[i];
        if (d->metric == series->metric && d->context == series->context &&
            strcmp(d->variant, series->variant) == 0)
            banded |= band(out, d);
    }
    for (size_t i = 0; i < m->n_changes; i++)
        if (m->changes[i].series == series) {
            change_mark(out, (ptrdiff_t)m->changes[i].at - (ptrdiff_t)series->count);
            changed = true;
        }
    buf_puts(out, "set offsets graph 0.02, graph 0.02, graph 0.1, graph 0.1\n$d << END\n");
    for (size_t i = 0; i < series->count; i++)
        buf_printf(out, "%td %.9g\n", (ptrdiff_t)i - (ptrdiff_t)series->count, series->points[i].median);
    buf_puts(out, "END\n");
    if (now && isfinite(now->median[series->metric]))
        buf_printf(out, "$n << END\n0 %.9g\nEND\n", now->median[series->metric]);
    buf_printf(out, "plot $d using 1:2 title '%s'", message(lang, MSG_PLOT_NIGHTS));
    with_line(out, 0, true);
    if (now && isfinite(now->median[series->metric]))
        buf_printf(out, ", $n using 1:2 with points pt 5 ps 1.4 lc rgb '%s' title '%s'", styles[1].colour,
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
