#include "reports/plot/script.h"

#include "reports/words/number.h"

#include <math.h>
#include <string.h>

enum { LINES_MAX = PLOT_LINES_MAX, LABEL_MAX = 80, POINTS_MAX = 400, MARKS_MAX = 60, GROUPS_MAX = 12 };

/* Tics of a logarithmic axis nearer than this would write over each other. */
#define TIC_DISTANCE 1.3
/* Bars whose heights lie further apart stand on a logarithmic axis. */
#define LINEAR_SPAN 20.0
/* Memory beyond this many bytes is read in GiB. */
#define GIB_FROM 8e9

/* Told apart by colour (safe for colour-blind readers, readable on white and on black), dashes and points. */
struct line_style {
    const char *colour;
    int dash;
    int point;
};

static const struct line_style styles[LINES_MAX] = {
    {"#0072B2", 1, 7},  {"#D55E00", 2, 5},  {"#009E73", 4, 9}, {"#CC79A7", 5, 11},
    {"#8F7200", 1, 13}, {"#7F7F7F", 2, 6},  {"#A65628", 4, 4}, {"#5E81C4", 5, 8},
    {"#C23B6B", 1, 10}, {"#4B8B3B", 2, 12}, {"#8A63C9", 4, 6}, {"#B07C2A", 5, 1},
    {"#3E9C9C", 1, 14}, {"#B34700", 2, 8},  {"#6B6B2E", 4, 2}, {"#4A5FA8", 5, 3},
};

/* A variant looks the same in every picture of a report: the reference first, the others as the plan lists
 * them. */
static size_t style_of(const struct report_model *m, size_t variant)
{
    size_t n = 0;
    if (strcmp(report_model_variant(m, variant), report_model_variant(m, m->reference)) == 0)
        return 0;
    for (size_t v = 0; strcmp(report_model_variant(m, v), report_model_variant(m, variant)) != 0; v++)
        n += report_model_first(m, v) &&
             strcmp(report_model_variant(m, v), report_model_variant(m, m->reference)) != 0;
    return n + 1;
}

static void quoted(struct buf *out, char quote, const char *s)
{
    static const char plain[] = " ()+,-./0123456789:=>ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    buf_putc(out, quote);
    for (size_t i = 0; s[i] && i < LABEL_MAX; i++)
        buf_add(out, strchr(plain, s[i]) ? &s[i] : "?", 1);
    buf_putc(out, quote);
}

void plot_label(struct buf *out, const char *s)
{
    quoted(out, '\'', s);
}

/* Words of ours may hold accents. */
static void axis(struct buf *out, const char *which, enum report_lang lang, enum msg id)
{
    buf_printf(out, "set %s '%s'\n", which, message(lang, id));
}

static enum msg time_word(const struct report_model *m)
{
    return m->kernels_alone || m->metric == METRIC_KERNEL_MS ? MSG_PLOT_KERNEL
           : m->metric == METRIC_WALL_S                      ? MSG_PLOT_WALL
                                                             : MSG_PLOT_PREFILL;
}

/* What a kernel takes is read in milliseconds, whatever it was stored in. */
static double time_of(const struct report_model *m, double v)
{
    return m->kernels_alone && m->metric == METRIC_PREFILL_S ? v * 1e3 : v;
}

static void picture(struct buf *out)
{
    buf_puts(out, "reset\n"
                  "set terminal svg size 640,400 dynamic noenhanced rounded font 'sans-serif,14'\n"
                  "set encoding utf8\nset border 3\nset tics nomirror\nset grid lc rgb 'gray'\n"
                  "set key outside center top horizontal samplen 2.5 width -1 maxcols 4\n");
}

static void with_line(struct buf *out, size_t i, bool points)
{
    const struct line_style *s = &styles[i % LINES_MAX];
    buf_printf(out, " with %s lw 2 dt %d lc rgb '%s'", points ? "linespoints" : "lines", s->dash, s->colour);
    if (points)
        buf_printf(out, " pt %d ps 0.8", s->point);
}

static void n_squared_guide(struct buf *out, const struct report_model *m, const struct scaling *s,
                            enum report_lang lang)
{
    const struct scaling_row *first = &s->rows[0], *last = &s->rows[s->count - 1];
    buf_printf(out, "[%d:%d] %.9g*(x/%d.0)**2 with lines lw 1 dt 3 lc rgb 'black' title '%s'", first->context,
               last->context, time_of(m, first->prefill_s), first->context,
               message(lang, MSG_PLOT_N_SQUARED));
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
    const char *separator = "set xtics (";
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].count > widest->count)
            widest = &set->items[i];
    double from = widest->rows[0].context, last = widest->rows[widest->count - 1].context;
    double distance = fmax(TIC_DISTANCE, pow(last / from, 1.0 / GROUPS_MAX)), before = 0;
    for (size_t k = 0; k < widest->count; k++) {
        int context = widest->rows[k].context;
        if (context < before * distance)
            continue;
        buf_printf(out, "%s'%d' %d", separator, context, context);
        separator = ", ";
        before = context;
    }
    buf_puts(out, ")\n");
}

/* More points than a reader can tell apart are thinned out, evenly on the logarithmic axis. */
static void scaling_rows(struct buf *out, const struct report_model *m, const struct scaling *s)
{
    double distance = pow((double)s->rows[s->count - 1].context / s->rows[0].context, 1.0 / MARKS_MAX);
    double before = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct scaling_row *row = &s->rows[k];
        if (s->count > MARKS_MAX && k + 1 < s->count && row->context < before * distance)
            continue;
        buf_printf(out, "%d %.9g\n", row->context, time_of(m, row->prefill_s));
        before = row->context;
    }
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
    if (!guide)
        return false;
    picture(out);
    axis(out, "xlabel", lang, MSG_PLOT_CONTEXT);
    axis(out, "ylabel", lang, time_word(m));
    buf_puts(out, "set logscale xy\nset format y '%g'\n");
    context_tics(out, &m->scaling);
    context_range(out, &m->scaling);
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        if (style_of(m, s->variant) >= LINES_MAX)
            continue;
        buf_printf(out, "$d%zu << END\n", i);
        scaling_rows(out, m, s);
        buf_puts(out, "END\n");
    }
    buf_puts(out, "plot ");
    n_squared_guide(out, m, guide, lang);
    for (size_t i = 0; i < m->scaling.count; i++) {
        size_t style = style_of(m, m->scaling.items[i].variant);
        if (style >= LINES_MAX)
            continue;
        buf_printf(out, ", $d%zu using 1:2 title ", i);
        plot_label(out, m->now.variants[m->scaling.items[i].variant].name);
        with_line(out, style, true);
    }
    buf_putc(out, '\n');
    return true;
}

/* Bars stand in groups: one a context, of a kernel plan one a shape. */
struct bars {
    size_t line[LINES_MAX]; /* a variant of each name that has a bar somewhere */
    size_t lines;
    const struct cell *group[GROUPS_MAX]; /* the reference's cell there */
    size_t groups;
    double low, high; /* of all factors and 1 */
};

/* Evenly over all of them when there are more than fit: the first and the last are always there. */
static void bar_groups(const struct report_model *m, struct bars *b)
{
    size_t n = 0, seen = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->now.n_cells; i++) {
            const struct cell *c = &m->now.cells[i];
            if (run_data_counterpart(&m->now, c->variant, m->reference) != c->variant ||
                isnan(c->median[m->metric]))
                continue;
            if (pass == 0)
                n++;
            else if (n <= GROUPS_MAX || seen++ == b->groups * (n - 1) / (GROUPS_MAX - 1))
                b->group[b->groups++] = c;
        }
}

static void bar_lines(const struct report_model *m, struct bars *b)
{
    for (size_t i = 0; i < m->n_vs; i++) {
        const struct variant_delta *d = &m->vs[i];
        size_t k = 0;
        if (!isfinite(d->factor) || d->variant == d->reference || !(d->factor > 0))
            continue;
        b->low = fmin(b->low, d->factor);
        b->high = fmax(b->high, d->factor);
        while (k < b->lines &&
               strcmp(report_model_variant(m, b->line[k]), report_model_variant(m, d->variant)) != 0)
            k++;
        if (k == b->lines && k < LINES_MAX && style_of(m, d->variant) < LINES_MAX)
            b->line[b->lines++] = d->variant;
    }
}

/* Of that name at the group's shape and context; NaN when there is none. */
static double bar_height(const struct report_model *m, size_t line, const struct cell *group)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (strcmp(report_model_variant(m, v), report_model_variant(m, line)) == 0 &&
            run_data_counterpart(&m->now, v, m->reference) == group->variant)
            return compare_pair(&m->now, v, m->reference, group->context, m->metric).factor;
    return (double)NAN;
}

/* Inside data only double quotes are quotes. */
static void bar_label(struct buf *out, const struct report_model *m, const struct cell *group)
{
    const char *shape = m->now.variants[group->variant].shape;
    quoted(out, '"', *shape ? shape : num_int(group->context).s);
}

static void bar_rows(struct buf *out, const struct report_model *m, const struct bars *b)
{
    for (size_t i = 0; i < b->groups; i++) {
        bar_label(out, m, b->group[i]);
        for (size_t k = 0; k < b->lines; k++) {
            double f = bar_height(m, b->line[k], b->group[i]);
            if (isfinite(f))
                buf_printf(out, " %.6g", f);
            else
                buf_puts(out, " ?");
        }
        buf_putc(out, '\n');
    }
}

/* Where the fastest is far from the slowest, a linear axis shows nothing of the slower ones. */
static void bar_axis(struct buf *out, const struct bars *b)
{
    if (b->high / b->low > LINEAR_SPAN)
        buf_printf(out, "set logscale y\nset format y '%%g'\nset yrange [%.3g:%.3g]\n", b->low / 2,
                   b->high * 1.5);
    else
        buf_puts(out, "set yrange [0:*]\n");
}

bool plot_script_speedup(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    struct bars b = {.low = 1, .high = 1};
    bar_groups(m, &b);
    bar_lines(m, &b);
    if (b.lines == 0 || b.groups == 0)
        return false;
    picture(out);
    axis(out, "xlabel", lang,
         *m->now.variants[b.group[0]->variant].shape ? MSG_PLOT_SHAPE : MSG_PLOT_CONTEXT);
    axis(out, "ylabel", lang, MSG_PLOT_SPEED);
    buf_puts(out, "set style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 noborder\n");
    bar_axis(out, &b);
    buf_puts(out, "$d << END\n");
    bar_rows(out, m, &b);
    buf_puts(out, "END\nplot 1 with lines lw 1 dt 3 lc rgb 'black' title ");
    plot_label(out, report_model_reference(m));
    for (size_t k = 0; k < b.lines; k++) {
        buf_printf(out, ", $d using %zu%s lc rgb '%s' title ", k + 2, k ? "" : ":xtic(1)",
                   styles[style_of(m, b.line[k])].colour);
        plot_label(out, report_model_variant(m, b.line[k]));
    }
    buf_putc(out, '\n');
    return true;
}

/* At most POINTS_MAX points, each the largest of its span, so that no peak is lost. */
static void trace_rows(struct buf *out, const double *t, const double *bytes, size_t count, double unit)
{
    size_t span = count / POINTS_MAX + 1;
    for (size_t i = 0; i < count; i += span) {
        double max = (double)NAN;
        for (size_t k = i; k < i + span && k < count; k++)
            max = fmax(max, bytes[k]);
        if (isfinite(t[i]) && isfinite(max))
            buf_printf(out, "%.3f %.3f\n", t[i], max / unit);
    }
}

static double highest(const struct report_model *m)
{
    double most = 0;
    for (size_t i = 0; i < m->n_traces; i++)
        for (size_t k = 0; k < m->traces[i].count; k++)
            most = fmax(most, m->traces[i].bytes[k]);
    return most;
}

bool plot_script_memory(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    bool gib = highest(m) > GIB_FROM;
    const char *separator = "plot ";
    if (m->n_traces == 0)
        return false;
    picture(out);
    axis(out, "xlabel", lang, MSG_PLOT_TIME);
    axis(out, "ylabel", lang, m->traces[0].vram ? MSG_PLOT_VRAM : MSG_PLOT_RSS);
    buf_printf(out, "set yrange [0:*]\nset format y '%%g %s'\n", gib ? "GiB" : "MiB");
    for (size_t i = 0; i < m->n_traces; i++) {
        const struct memory_trace *trace = &m->traces[i];
        if (style_of(m, trace->variant) >= LINES_MAX)
            continue;
        buf_printf(out, "$d%zu << END\n", i);
        trace_rows(out, trace->t, trace->bytes, trace->count, gib ? 1 << 30 : 1 << 20);
        buf_puts(out, "END\n");
    }
    for (size_t i = 0; i < m->n_traces; i++) {
        size_t style = style_of(m, m->traces[i].variant);
        struct buf label;
        if (style >= LINES_MAX)
            continue;
        buf_init(&label, 256);
        buf_printf(&label, "%s, %d", m->now.variants[m->traces[i].variant].name, m->traces[i].context);
        buf_printf(out, "%s$d%zu using 1:2 title ", separator, i);
        plot_label(out, buf_str(&label));
        with_line(out, style, false);
        separator = ", ";
        buf_release(&label);
    }
    buf_putc(out, '\n');
    return true;
}

/* Whether there is one. */
static bool band(struct buf *out, const struct report_model *m, const struct delta *d)
{
    if (!isfinite(d->history_median))
        return false;
    buf_printf(out,
               "set object 1 rectangle from graph 0, first %.9g to graph 1, first %.9g behind "
               "fc rgb 'gray' fs solid 0.25 noborder\n",
               time_of(m, d->history_median) * (1 - d->threshold),
               time_of(m, d->history_median) * (1 + d->threshold));
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
    axis(out, "ylabel", lang, time_word(m));
    for (size_t i = 0; i < m->comparison.count; i++) {
        const struct delta *d = &m->comparison.deltas[i];
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
                   time_of(m, series->points[i].median));
    buf_puts(out, "END\n");
    if (now && isfinite(now->median[series->metric]))
        buf_printf(out, "$n << END\n0 %.9g\nEND\n", time_of(m, now->median[series->metric]));
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
