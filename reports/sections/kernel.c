/* Kernels: scaling with batch size and heads, accuracy, and roofline position. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>

/* Errors are too small for fixed decimals. */
static struct num scientific(double v)
{
    struct num n = {NUM_NONE};
    if (isfinite(v))
        snprintf(n.s, sizeof n.s, "%.2e", v);
    return n;
}

static void shape_row(const struct launch *l, const struct launch_growth *g, struct table *t,
                      enum report_lang lang)
{
    table_code(t, l->kernel);
    table_text(t, num_fixed(l->seq, 0).s);
    table_text(t, num_fixed(l->batch, 0).s);
    table_text(t, num_fixed(l->heads, 0).s);
    table_text(t, num_milliseconds(l->ms).s);
    table_text(t, num_growth(g->work).s);
    table_text(t, isfinite(l->units) ? num_growth(g->expected).s : NUM_NONE);
    table_text(t, num_growth(g->actual).s);
    table_text(t, num_fixed(l->blocks, 0).s);
    table_marked(t, g->serialised ? message(lang, MSG_SERIALISED) : "", g->serialised ? MARK_BAD : MARK_NONE);
}

/* Lanes per wave; NaN when the build does not name a known architecture. */
static double lanes_of(const struct report_model *m)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (m->resources[v].limits)
            return m->resources[v].limits->lanes;
    return (double)NAN;
}

static void evidence(const struct report_model *m, const struct launch *l, const struct launch_growth *g,
                     struct md *w)
{
    struct num seq = num_fixed(l->seq, 0), blocks = num_fixed(g->blocks, 0), units = num_fixed(l->units, 0);
    struct num more = num_growth(g->work), longer = num_growth(g->actual);
    if (!g->grid_known) {
        md_item(w, MSG_SERIALISED_UNKNOWN_GRID, l->kernel, seq.s, num_int(LAUNCH_QUERIES).s, blocks.s,
                units.s, more.s, longer.s);
        return;
    }
    bool nvidia = resources_nvidia(m->resources, m->now.n_variants);
    md_item(w, nvidia ? MSG_SERIALISED_EVIDENCE_NVIDIA : MSG_SERIALISED_EVIDENCE, l->kernel, seq.s, blocks.s,
            num_fixed(l->block_threads, 0).s, num_fixed(l->query_threads, 0).s,
            num_fixed(l->blocks * ceil(l->block_threads / lanes_of(m)), 0).s, units.s, more.s, longer.s);
}

/* Shows, for each kernel and length, the grid of the launch with the most work, if it is flagged. */
static void serial_evidence(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->kernel.count; i++) {
        struct launch_growth g = launch_growth(m->kernel.launches, m->kernel.count, i);
        if (g.largest && g.serialised)
            evidence(m, &m->kernel.launches[i], &g, w);
    }
    md_end(w);
}

static double units_of(const struct report_model *m)
{
    for (size_t i = 0; i < m->kernel.count; i++)
        if (isfinite(m->kernel.launches[i].units))
            return m->kernel.launches[i].units;
    return (double)NAN;
}

static void shapes(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_KERNEL);
    table_column(&t, "S", true);
    table_numbers(&t, w->lang, MSG_COL_BATCH, MSG_COL_HEADS, MSG_COL_TIME_MS, MSG_COL_WORK, MSG_COL_EXPECTED,
                  MSG_COL_ACTUAL, MSG_COL_BLOCKS);
    table_texts(&t, w->lang, MSG_COL_FLAG);
    for (size_t i = 0; i < m->kernel.count; i++) {
        struct launch_growth g = launch_growth(m->kernel.launches, m->kernel.count, i);
        if (g.has_peer)
            shape_row(&m->kernel.launches[i], &g, &t, w->lang);
    }
    table_drop_empty(&t, 4);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_SHAPES);
        md_table(w, &t);
        if (isfinite(units_of(m)))
            md_para(w, MSG_SHAPES_NOTE, num_fixed(units_of(m), 0).s, num_int(LAUNCH_QUERIES).s,
                    num_percent(LAUNCH_SERIAL_SHARE).s);
        else
            md_para(w, MSG_SHAPES_NOTE_NO_UNITS);
        serial_evidence(m, w);
    }
}

static void accuracy(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_VARIANT);
    table_numbers(&t, w->lang, MSG_COL_CONTEXT, MSG_COL_MAX_ABS, MSG_COL_REL_L2, MSG_COL_ROWS_CHECKED);
    for (size_t i = 0; i < m->kernel.count; i++) {
        const struct kernel_point *p = &m->kernel.points[i];
        if (isnan(p->rel_l2) && isnan(p->max_abs))
            continue;
        table_code(&t, m->now.variants[p->cell->variant].name);
        table_text(&t, num_int(p->cell->context).s);
        table_text(&t, scientific(p->max_abs).s);
        table_text(&t, scientific(p->rel_l2).s);
        table_text(&t, num_fixed(p->rows_checked, 0).s);
    }
    table_drop_empty(&t, 2);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_ACCURACY);
        md_table(w, &t);
        md_para(w, MSG_ACCURACY_NOTE);
    }
}

static void roofline(const struct report_model *m, struct md *w)
{
    bool matrix = false, share = false, over = false;
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_VARIANT);
    table_numbers(&t, w->lang, MSG_COL_CONTEXT, MSG_COL_TIME_MS);
    table_column(&t, "TFLOP/s", true);
    table_column(&t, "GB/s", true);
    table_numbers(&t, w->lang, MSG_COL_COPY, MSG_COL_FMA, MSG_COL_MATRIX, MSG_COL_ROOFLINE);
    for (size_t i = 0; i < m->kernel.count; i++) {
        const struct kernel_point *p = &m->kernel.points[i];
        if (isnan(p->copy_gb_per_s) && isnan(p->fma_tflops))
            continue;
        table_code(&t, m->now.variants[p->cell->variant].name);
        table_text(&t, num_int(p->cell->context).s);
        table_text(&t, num_milliseconds(m->kernel.launches[i].ms).s);
        table_text(&t, num_fixed(p->tflops, 2).s);
        table_text(&t, num_fixed(p->gb_per_s, 1).s);
        table_text(&t, num_fixed(p->copy_gb_per_s, 0).s);
        table_text(&t, num_fixed(p->fma_tflops, 1).s);
        table_text(&t, num_fixed(p->matrix_tflops, 0).s);
        table_text(&t, num_percent(p->roofline_share > SHARE_OVER ? (double)NAN : p->roofline_share).s);
        matrix |= isfinite(p->matrix_tflops);
        share |= isfinite(p->roofline_share);
        over |= p->roofline_share > SHARE_OVER;
    }
    table_drop_empty(&t, 2);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_ROOFLINE);
        md_table(w, &t);
        md_say(w, MSG_ROOFLINE_NOTE);
        if (matrix)
            md_say(w, MSG_ROOFLINE_MATRIX);
        if (share)
            md_say(w, MSG_ROOFLINE_SHARE);
        if (over)
            md_say(w, MSG_ROOFLINE_OVER);
        md_end(w);
    }
}

void section_kernel(const struct report_model *m, struct md *w)
{
    shapes(m, w);
    accuracy(m, w);
    roofline(m, w);
}
