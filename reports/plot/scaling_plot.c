/* Time over context length, one line per variant, with n^2 as a guide. */
#include "reports/model/insight.h"
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>
#include <string.h>

enum { MARKS_MAX = 60, TICS_MAX = 12, Y_TICS_MAX = 9, PANEL_TICS_MAX = 3 };

/* Tics of a logarithmic axis nearer than this would overlap. */
#define TIC_DISTANCE 1.3

/* Free space beyond the lowest and the highest value, as a factor. */
#define ROOM 1.25

static double shown(const struct report_model *m, double stored)
{
    return stored * m->scaled.scale;
}

/* The guide is clipped to the range of the data, which it must not squeeze. */
static void n_squared_guide(struct buf *out, const struct report_model *m, const struct scaling *s,
                            enum report_lang lang)
{
    const struct scaling_row *first = &s->rows[0], *last = &s->rows[s->count - 1];
    buf_printf(out, "sample [%d:%d] %.9g*(x/%d.0)**2 with lines lw 1 dt 3 lc rgb 'black' title '%s'",
               first->context, last->context, shown(m, first->value), first->context,
               message(lang, MSG_PLOT_N_SQUARED));
}

static struct cell_spread spread_of(const struct report_model *m, const struct scaling *s,
                                    const struct scaling_row *row)
{
    const struct cell *c = run_data_cell(&m->now, m->now.variants[s->variant].name, row->context);
    return c ? insight_spread(&m->now, c, m->scaling.metric) : (struct cell_spread){0};
}

/* Leaves room at both ends, so that no point sits on the frame. */
static void ranges(struct buf *out, const struct report_model *m, int tics)
{
    const struct scaling_set *set = &m->scaling;
    int low = set->items[0].rows[0].context, high = low;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct scaling *s = &set->items[i];
        low = s->rows[0].context < low ? s->rows[0].context : low;
        high = s->rows[s->count - 1].context > high ? s->rows[s->count - 1].context : high;
        for (size_t k = 0; k < s->count; k++) {
            struct cell_spread spread = spread_of(m, s, &s->rows[k]);
            double low_end = spread.n > 1 ? spread.low : s->rows[k].value;
            least = fmin(least, shown(m, low_end));
            most = fmax(most, shown(m, fmax(spread.high, s->rows[k].value)));
        }
    }
    buf_printf(out, "set xrange [%g:%g]\nset yrange [%.6g:%.6g]\n", low / 1.1, high * 1.1, least / ROOM,
               most * ROOM);
    script_log_tics(out, "ytics", least / ROOM, most * ROOM, tics, false);
}

static void context_tics(struct buf *out, const struct scaling_set *set, int most)
{
    const struct scaling *widest = &set->items[0];
    const char *separator = "set xtics (";
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].count > widest->count)
            widest = &set->items[i];
    double from = widest->rows[0].context, last = widest->rows[widest->count - 1].context;
    double distance = fmax(TIC_DISTANCE, pow(last / from, 1.0 / most)), before = 0;
    for (size_t k = 0; k < widest->count; k++) {
        int context = widest->rows[k].context;
        if (context < before * distance * 0.999)
            continue;
        buf_printf(out, "%s'%d' %d", separator, context, context);
        separator = ", ";
        before = context;
    }
    buf_puts(out, ")\n");
}

/* More points than a reader can tell apart are thinned out, evenly on the logarithmic axis. Columns: context,
 * value, lowest and highest repetition. */
static void scaling_rows(struct buf *out, const struct report_model *m, const struct scaling *s, size_t block)
{
    double distance = pow((double)s->rows[s->count - 1].context / s->rows[0].context, 1.0 / MARKS_MAX);
    double before = 0;
    buf_printf(out, "$d%zu << END\n", block);
    for (size_t k = 0; k < s->count; k++) {
        const struct scaling_row *row = &s->rows[k];
        if (s->count > MARKS_MAX && k + 1 < s->count && row->context < before * distance)
            continue;
        struct cell_spread spread = spread_of(m, s, row);
        buf_printf(out, "%d %.9g", row->context, shown(m, row->value));
        script_error_columns(out, shown(m, spread.low), shown(m, spread.high));
        before = row->context;
    }
    buf_puts(out, "END\n");
}

/* Shapes of a variant have a line each, which one style would not tell apart. */
static size_t style_of(const struct report_model *m, size_t item)
{
    const struct scaling_set *set = &m->scaling;
    for (size_t a = 1; a < set->count; a++)
        for (size_t b = 0; b < a; b++)
            if (script_same(m, set->items[a].variant, set->items[b].variant))
                return item;
    return script_style(m, set->items[item].variant);
}

/* How many names are in the first picture; *longest: the length of the longest. */
static size_t names_of(const struct report_model *m, size_t *longest)
{
    size_t n = 0;
    *longest = 0;
    for (size_t i = 0; i < m->scaling.count; i++) {
        size_t len = strlen(m->now.variants[m->scaling.items[i].variant].name);
        if (style_of(m, i) >= SCRIPT_SERIES_MAX)
            continue;
        n++;
        *longest = len > *longest ? len : *longest;
    }
    return n;
}

/* The guide starts at the line of the reference variant, or else at the first line. */
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

const char *picture_scaling_guide(const struct report_model *m)
{
    const struct scaling *s = guide_of(m);
    return s ? m->now.variants[s->variant].name : "";
}

static void axes(struct buf *out, const struct report_model *m, int tics, int y_tics)
{
    buf_puts(out, "set logscale xy\nset format y '%g'\n");
    context_tics(out, &m->scaling, tics);
    ranges(out, m, y_tics);
}

static void line(struct buf *out, const struct report_model *m, size_t index, size_t style)
{
    buf_puts(out, ", ");
    script_errors(out, "d", index, script_colour(style));
    buf_printf(out, ", $d%zu using 1:2 title ", index);
    script_label(out, m->now.variants[m->scaling.items[index].variant].name);
    script_line(out, style, true);
}

bool picture_scaling(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct scaling *guide = guide_of(m);
    if (!guide)
        return false;
    size_t longest, names = names_of(m, &longest);
    script_begin(out, names + 1, longest);
    script_context_axis(out, m, lang);
    script_value_axis(out, &m->scaled, lang);
    axes(out, m, TICS_MAX, Y_TICS_MAX);
    for (size_t i = 0; i < m->scaling.count; i++)
        if (style_of(m, i) < SCRIPT_SERIES_MAX)
            scaling_rows(out, m, &m->scaling.items[i], i);
    buf_puts(out, "plot ");
    n_squared_guide(out, m, guide, lang);
    for (size_t i = 0; i < m->scaling.count; i++) {
        size_t style = style_of(m, i);
        if (style < SCRIPT_SERIES_MAX)
            line(out, m, i, style);
    }
    buf_putc(out, '\n');
    return true;
}

static bool in_panel(const struct report_model *m, size_t item)
{
    size_t style = style_of(m, item);
    return style >= SCRIPT_SERIES_MAX && style < SCRIPT_ALL_MAX;
}

bool picture_scaling_panels(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct scaling *guide = guide_of(m);
    size_t panels = 0;
    for (size_t i = 0; i < m->scaling.count; i++)
        panels += in_panel(m, i);
    if (!guide || panels == 0)
        return false;
    script_panels(out, panels);
    axes(out, m, PANEL_TICS_MAX, PANEL_TICS_MAX + 1);
    scaling_rows(out, m, guide, m->scaling.count);
    for (size_t i = 0; i < m->scaling.count; i++) {
        if (!in_panel(m, i))
            continue;
        scaling_rows(out, m, &m->scaling.items[i], i);
        script_title(out, m->now.variants[m->scaling.items[i].variant].name);
        buf_puts(out, "plot ");
        n_squared_guide(out, m, guide, lang);
        buf_printf(out, ", $d%zu using 1:2 with lines lw 1 lc rgb 'black'", m->scaling.count);
        line(out, m, i, 1);
        buf_putc(out, '\n');
    }
    script_panels_end(out);
    return true;
}
