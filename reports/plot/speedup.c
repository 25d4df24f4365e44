/* Speed of each variant relative to the reference: groups of bars. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include "reports/words/number.h"

#include <math.h>

enum { GROUPS_MAX = 12 };

/* Bars whose heights span more than this need a logarithmic axis. */
#define LINEAR_SPAN 20.0

/* One group of bars per context; in a kernel plan, one per shape. */
struct bars {
    size_t line[SCRIPT_LINES_MAX]; /* a variant of each name that has a bar somewhere */
    size_t lines;
    const struct cell *group[GROUPS_MAX]; /* the reference's cell there */
    size_t groups;
    double low, high; /* of all factors, and 1 */
};

/* If not all groups fit, selects evenly spaced ones, always including the first and the last. */
static void bar_groups(const struct report_model *m, struct bars *b)
{
    size_t n = 0, seen = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->now.n_cells; i++) {
            const struct cell *c = &m->now.cells[i];
            if (run_data_counterpart(&m->now, c->variant, m->reference) != c->variant ||
                isnan(c->median[m->primary.metric]))
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
        while (k < b->lines && !report_model_same(m, b->line[k], d->variant))
            k++;
        if (k == b->lines && k < SCRIPT_LINES_MAX && script_style(m, d->variant) < SCRIPT_LINES_MAX)
            b->line[b->lines++] = d->variant;
    }
}

/* The variant's factor at the group's shape and context; NaN without one. */
static double bar_height(const struct report_model *m, size_t line, const struct cell *group)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (report_model_same(m, v, line) && run_data_counterpart(&m->now, v, m->reference) == group->variant)
            return compare_pair(&m->now, v, m->reference, group->context, m->primary.metric).factor;
    return (double)NAN;
}

static void bar_label(struct buf *out, const struct report_model *m, const struct cell *group)
{
    const char *shape = m->now.variants[group->variant].shape;
    script_data_label(out, *shape ? shape : num_int(group->context).s);
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

/* When the fastest is far ahead, a linear axis would hide the slower ones. */
static void bar_axis(struct buf *out, const struct bars *b)
{
    if (b->high / b->low > LINEAR_SPAN)
        buf_printf(out, "set logscale y\nset format y '%%g'\nset yrange [%.3g:%.3g]\n", b->low / 2,
                   b->high * 1.5);
    else
        buf_puts(out, "set yrange [0:*]\n");
}

bool picture_speedup(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    struct bars b = {.low = 1, .high = 1};
    bar_groups(m, &b);
    bar_lines(m, &b);
    if (b.lines == 0 || b.groups == 0)
        return false;
    script_begin(out);
    script_axis(out, "xlabel", lang,
                *m->now.variants[b.group[0]->variant].shape ? MSG_PLOT_SHAPE : MSG_PLOT_CONTEXT);
    script_axis(out, "ylabel", lang, MSG_PLOT_SPEED);
    buf_puts(out, "set style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 noborder\n");
    bar_axis(out, &b);
    buf_puts(out, "$d << END\n");
    bar_rows(out, m, &b);
    buf_puts(out, "END\nplot 1 with lines lw 1 dt 3 lc rgb 'black' title ");
    script_label(out, report_model_reference(m));
    for (size_t k = 0; k < b.lines; k++) {
        buf_printf(out, ", $d using %zu%s lc rgb '%s' title ", k + 2, k ? "" : ":xtic(1)",
                   script_colour(script_style(m, b.line[k])));
        script_label(out, report_model_variant(m, b.line[k]));
    }
    buf_putc(out, '\n');
    return true;
}
