/* Speed of each variant relative to the reference: groups of bars, with one standard error. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

enum { GROUPS_MAX = 8, LABELS_WIDTH_MAX = 56, TICS_MAX = 9 };

/* Bars whose heights span more than this need a logarithmic axis. */
#define LINEAR_SPAN 20.0

/* Free space beyond the longest bars of a logarithmic axis, as a factor. */
#define ROOM 1.4

/* Share of a group's width that its bars fill. */
#define FILLED 0.8

/* One group of bars per context; in a kernel plan, one per shape. */
struct bars {
    size_t line[SCRIPT_ALL_MAX]; /* a variant of each name that has a bar somewhere, by style */
    size_t lines;
    const struct cell *group[GROUPS_MAX]; /* the reference's cell there */
    size_t groups;
    double low, high; /* of all factors drawn, and 1 */
};

static struct variant_delta bar_of(const struct report_model *m, size_t line, const struct cell *group);

static bool any_bar(const struct report_model *m, const struct bars *b, const struct cell *group)
{
    for (size_t k = 0; k < b->lines; k++)
        if (isfinite(bar_of(m, b->line[k], group).factor))
            return true;
    return false;
}

/* If not all groups fit, selects evenly spaced ones, always including the first and the last. */
static void bar_groups(const struct report_model *m, struct bars *b)
{
    size_t n = 0, seen = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->now.n_cells; i++) {
            const struct cell *c = &m->now.cells[i];
            if (run_data_counterpart(&m->now, c->variant, m->reference) != c->variant ||
                isnan(c->median[m->primary.metric]) || !any_bar(m, b, c))
                continue;
            if (pass == 0)
                n++;
            else if (n <= GROUPS_MAX || seen++ == b->groups * (n - 1) / (GROUPS_MAX - 1))
                b->group[b->groups++] = c;
        }
}

/* panels: the variants of the second picture, else of the first. */
static void bar_lines(const struct report_model *m, bool panels, struct bars *b)
{
    for (size_t i = 0; i < m->n_vs; i++) {
        const struct variant_delta *d = &m->vs[i];
        size_t k = 0;
        size_t style = script_style(m, d->variant);
        if (!isfinite(d->factor) || d->variant == d->reference || !(d->factor > 0) ||
            (style >= SCRIPT_SERIES_MAX) != panels || style >= SCRIPT_ALL_MAX)
            continue;
        b->low = fmin(b->low, d->factor);
        b->high = fmax(b->high, isfinite(d->factor_error) ? d->factor + d->factor_error : d->factor);
        while (k < b->lines && !script_same(m, b->line[k], d->variant))
            k++;
        if (k == b->lines && k < SCRIPT_ALL_MAX)
            b->line[b->lines++] = d->variant;
    }
}

static struct bars bars_of(const struct report_model *m, bool panels)
{
    struct bars b = {.low = 1, .high = 1};
    bar_lines(m, panels, &b);
    bar_groups(m, &b);
    return b;
}

static bool is_log(const struct bars *b)
{
    return b->high / b->low > LINEAR_SPAN;
}

bool picture_speedup_is_log(const struct report_model *m)
{
    struct bars b = bars_of(m, false);
    return is_log(&b);
}

/* The variant's factor at the group's shape and context; NaN without one. */
static struct variant_delta bar_of(const struct report_model *m, size_t line, const struct cell *group)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (script_same(m, v, line) && run_data_counterpart(&m->now, v, m->reference) == group->variant)
            return compare_pair(&m->now, v, m->reference, group->context, m->primary.metric);
    return (struct variant_delta){.factor = (double)NAN};
}

/* On a logarithmic axis the decimal logarithm is drawn, so that bars start at 1. */
static double height(const struct bars *b, double factor)
{
    return is_log(b) ? log10(factor) : factor;
}

/* The lower end is kept above 0 for the logarithmic axis; NaN without an error. */
static double lower_end(const struct variant_delta *d)
{
    return isnan(d->factor_error) ? d->factor_error : fmax(d->factor - d->factor_error, d->factor / 10);
}

/* Columns: position, height, low and high end of the error bar. at: offset of the bar within its group. */
static void bar_rows(struct buf *out, const struct report_model *m, const struct bars *b, size_t line,
                     double at)
{
    buf_printf(out, "$d%zu << END\n", line);
    for (size_t i = 0; i < b->groups; i++) {
        struct variant_delta d = bar_of(m, b->line[line], b->group[i]);
        if (!isfinite(d.factor) || !(d.factor > 0))
            continue;
        buf_printf(out, "%.4f %.6g", (double)i + at, height(b, d.factor));
        script_error_columns(out, height(b, lower_end(&d)), height(b, d.factor + d.factor_error));
    }
    buf_puts(out, "END\n");
}

/* What tells the groups apart: their shape, else "", and then the context does. */
static const char *shape_of(const struct report_model *m, const struct cell *group)
{
    return script_points_alone(m) ? "" : m->now.variants[group->variant].shape;
}

static void group_label(struct buf *out, const struct report_model *m, const struct cell *group)
{
    const char *shape = shape_of(m, group);
    script_label(out, *shape ? shape : num_int(group->context).s);
}

static bool labels_fit(const struct report_model *m, const struct bars *b)
{
    size_t characters = 0;
    for (size_t i = 0; i < b->groups; i++) {
        const char *shape = shape_of(m, b->group[i]);
        characters += 2 + strlen(*shape ? shape : num_int(b->group[i]->context).s);
    }
    return characters <= LABELS_WIDTH_MAX;
}

static void group_tics(struct buf *out, const struct report_model *m, const struct bars *b, bool slanted)
{
    buf_printf(out, "set xrange [-0.6:%.1f]\nset xtics scale 0 %s(", (double)b->groups - 0.4,
               slanted ? "rotate by -35 " : "");
    for (size_t i = 0; i < b->groups; i++) {
        buf_puts(out, i ? ", " : "");
        group_label(out, m, b->group[i]);
        buf_printf(out, " %zu", i);
    }
    buf_puts(out, ")\n");
}

static void log_axis(struct buf *out, const struct bars *b)
{
    double low = b->low / ROOM, high = b->high * ROOM;
    script_log_tics(out, "ytics", low, high, TICS_MAX, true);
    buf_printf(out, "set yrange [%.4g:%.4g]\n", log10(low), log10(high));
}

static void bar_axes(struct buf *out, const struct report_model *m, const struct bars *b, bool slanted)
{
    group_tics(out, m, b, slanted || !labels_fit(m, b));
    buf_puts(out, "set style fill solid 0.9 noborder\nset grid noxtics\n");
    if (is_log(b))
        log_axis(out, b);
    else
        buf_printf(out, "set yrange [0:%.4g]\n", b->high * 1.1);
}

static void bar(struct buf *out, size_t line, size_t style)
{
    buf_printf(out, ", $d%zu using 1:2 with boxes lc rgb '%s' title ", line, script_colour(style));
}

/* Whiskers must be legible on the bars, so they are black. */
static void whiskers(struct buf *out, size_t line)
{
    buf_puts(out, ", ");
    script_errors(out, "d", line, "black");
}

bool picture_speedup(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct bars b = bars_of(m, false);
    if (b.lines == 0 || b.groups == 0)
        return false;
    double width = FILLED / (double)b.lines;
    size_t longest, names = script_names(m, &longest);
    script_begin(out, names, longest);
    if (*shape_of(m, b.group[0]))
        script_axis(out, "xlabel", lang, MSG_PLOT_SHAPE);
    else
        script_context_axis(out, m, lang);
    script_axis(out, "ylabel", lang, MSG_PLOT_SPEED);
    bar_axes(out, m, &b, false);
    buf_printf(out, "set boxwidth %.4f absolute\n", width * 0.94);
    for (size_t k = 0; k < b.lines; k++)
        bar_rows(out, m, &b, k, width * ((double)k + 0.5) - FILLED / 2);
    buf_printf(out, "plot %g with lines lw 1 dt 3 lc rgb 'black' title ", height(&b, 1));
    script_label(out, report_model_reference(m));
    for (size_t k = 0; k < b.lines; k++) {
        bar(out, k, script_style(m, b.line[k]));
        script_label(out, script_name(m, b.line[k]));
        whiskers(out, k);
    }
    buf_putc(out, '\n');
    return true;
}

bool picture_speedup_panels(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct bars b = bars_of(m, true);
    (void)lang;
    if (b.lines == 0 || b.groups == 0)
        return false;
    script_panels(out, b.lines);
    bar_axes(out, m, &b, b.groups > 2);
    buf_printf(out, "set boxwidth %.4f absolute\n", FILLED);
    for (size_t k = 0; k < b.lines; k++) {
        bar_rows(out, m, &b, k, 0);
        script_title(out, script_name(m, b.line[k]));
        buf_printf(out, "plot %g with lines lw 1 dt 3 lc rgb 'black'", height(&b, 1));
        bar(out, k, 1);
        script_label(out, "");
        whiskers(out, k);
        buf_putc(out, '\n');
    }
    script_panels_end(out);
    return true;
}
