/* Time over context length, one line per variant, with n^2 as a guide. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>

enum { MARKS_MAX = 60, TICS_MAX = 12 };

/* Tics of a logarithmic axis nearer than this would overlap. */
#define TIC_DISTANCE 1.3

static void n_squared_guide(struct buf *out, const struct report_model *m, const struct scaling *s,
                            enum report_lang lang)
{
    const struct scaling_row *first = &s->rows[0], *last = &s->rows[s->count - 1];
    buf_printf(out, "[%d:%d] %.9g*(x/%d.0)**2 with lines lw 1 dt 3 lc rgb 'black' title '%s'", first->context,
               last->context, first->prefill_s * m->prefill.scale, first->context,
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
    double distance = fmax(TIC_DISTANCE, pow(last / from, 1.0 / TICS_MAX)), before = 0;
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
        buf_printf(out, "%d %.9g\n", row->context, row->prefill_s * m->prefill.scale);
        before = row->context;
    }
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

bool picture_scaling(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct scaling *guide = guide_of(m);
    if (!guide)
        return false;
    script_begin(out);
    script_axis(out, "xlabel", lang, MSG_PLOT_CONTEXT);
    script_value_axis(out, &m->prefill, lang);
    buf_puts(out, "set logscale xy\nset format y '%g'\n");
    context_tics(out, &m->scaling);
    context_range(out, &m->scaling);
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        if (script_style(m, s->variant) >= SCRIPT_LINES_MAX)
            continue;
        buf_printf(out, "$d%zu << END\n", i);
        scaling_rows(out, m, s);
        buf_puts(out, "END\n");
    }
    buf_puts(out, "plot ");
    n_squared_guide(out, m, guide, lang);
    for (size_t i = 0; i < m->scaling.count; i++) {
        size_t style = script_style(m, m->scaling.items[i].variant);
        if (style >= SCRIPT_LINES_MAX)
            continue;
        buf_printf(out, ", $d%zu using 1:2 title ", i);
        script_label(out, m->now.variants[m->scaling.items[i].variant].name);
        script_line(out, style, true);
    }
    buf_putc(out, '\n');
    return true;
}
