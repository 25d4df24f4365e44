/* Kernels: scaling over batch and heads, accuracy, and the place under the roofline. */
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A launch counts as serialised when its time grows by this share of the work or more while units stay idle.
 */
#define SERIAL_SHARE 0.8

static struct num milliseconds(double ms)
{
    return num_fixed(ms, ms < 1 ? 4 : ms < 100 ? 3 : 2);
}

/* Times in units of 1e-4 and less lose their meaning as fixed decimals. */
static struct num small(double v)
{
    struct num n = {NUM_NONE};
    if (isfinite(v))
        snprintf(n.s, sizeof n.s, "%.2e", v);
    return n;
}

static double work(const struct kernel_point *p)
{
    return p->batch * p->heads;
}

static bool same_kernel(const struct kernel_point *a, const struct kernel_point *b)
{
    return strcmp(a->cell->attn_impl, b->cell->attn_impl) == 0 && a->seq == b->seq;
}

/* The smallest launch of the same kernel and length; p itself when it is that. */
static const struct kernel_point *smallest(const struct report_model *m, const struct kernel_point *p)
{
    const struct kernel_point *least = p;
    for (size_t i = 0; i < m->n_kernels; i++)
        if (same_kernel(&m->kernels[i], p) && work(&m->kernels[i]) < work(least))
            least = &m->kernels[i];
    return least;
}

static bool has_fellow(const struct report_model *m, const struct kernel_point *p)
{
    for (size_t i = 0; i < m->n_kernels; i++)
        if (same_kernel(&m->kernels[i], p) && isfinite(work(&m->kernels[i])) &&
            work(&m->kernels[i]) != work(p))
            return isfinite(work(p));
    return false;
}

/* What the grid lets one expect: the rounds that its blocks need on the device; the work itself when the grid
 * is not known. */
static double expected(const struct kernel_point *p, const struct kernel_point *least)
{
    double rounds = ceil(p->blocks / p->units) / ceil(least->blocks / least->units);
    return isfinite(rounds) ? rounds : work(p) / work(least);
}

static bool serialised(const struct kernel_point *p, const struct kernel_point *least)
{
    double more = work(p) / work(least);
    return more >= 2 && p->blocks < p->units && p->ms / least->ms >= SERIAL_SHARE * more;
}

static void shape_row(const struct report_model *m, const struct kernel_point *p, struct table *t,
                      enum report_lang lang)
{
    const struct kernel_point *least = smallest(m, p);
    bool flagged = serialised(p, least);
    table_code(t, *p->cell->attn_impl ? p->cell->attn_impl : m->now.variants[p->cell->variant].name);
    table_text(t, num_fixed(p->seq, 0).s);
    table_text(t, num_fixed(p->batch, 0).s);
    table_text(t, num_fixed(p->heads, 0).s);
    table_text(t, milliseconds(p->ms).s);
    table_text(t, num_growth(work(p) / work(least)).s);
    table_text(t, num_growth(expected(p, least)).s);
    table_text(t, num_growth(p->ms / least->ms).s);
    table_text(t, num_fixed(p->blocks, 0).s);
    table_marked(t, flagged ? message(lang, MSG_SERIALISED) : "", flagged ? MARK_BAD : MARK_NONE);
}

/* Lanes of a wave, where the build says for which architecture it is; NaN. */
static double lanes_of(const struct report_model *m)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (m->resources[v].limits)
            return m->resources[v].limits->lanes;
    return (double)NAN;
}

/* Of each kernel and length the launch with most work, if it is flagged: what its grid looks like. */
static void serial_evidence(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->n_kernels; i++) {
        const struct kernel_point *p = &m->kernels[i], *least = smallest(m, p);
        bool largest = true;
        for (size_t k = 0; k < m->n_kernels; k++)
            largest &= !same_kernel(&m->kernels[k], p) || work(&m->kernels[k]) <= work(p);
        if (largest && serialised(p, least))
            md_item(
                w, MSG_SERIALISED_EVIDENCE, p->cell->attn_impl, num_fixed(p->seq, 0).s,
                num_fixed(p->blocks, 0).s, num_fixed(p->block_threads, 0).s, num_fixed(p->query_threads, 0).s,
                num_fixed(p->blocks * ceil(p->block_threads / lanes_of(m)), 0).s, num_fixed(p->units, 0).s,
                num_growth(work(p) / work(least)).s, num_growth(p->ms / least->ms).s);
    }
    md_end(w);
}

static double units_of(const struct report_model *m)
{
    for (size_t i = 0; i < m->n_kernels; i++)
        if (isfinite(m->kernels[i].units))
            return m->kernels[i].units;
    return (double)NAN;
}

static void shapes(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_KERNEL), false);
    table_column(&t, "S", true);
    table_column(&t, message(w->lang, MSG_COL_BATCH), true);
    table_column(&t, message(w->lang, MSG_COL_HEADS), true);
    table_column(&t, message(w->lang, MSG_COL_TIME_MS), true);
    table_column(&t, message(w->lang, MSG_COL_WORK), true);
    table_column(&t, message(w->lang, MSG_COL_EXPECTED), true);
    table_column(&t, message(w->lang, MSG_COL_ACTUAL), true);
    table_column(&t, message(w->lang, MSG_COL_BLOCKS), true);
    table_column(&t, message(w->lang, MSG_COL_FLAG), false);
    for (size_t i = 0; i < m->n_kernels; i++)
        if (has_fellow(m, &m->kernels[i]))
            shape_row(m, &m->kernels[i], &t, w->lang);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_SHAPES);
        md_table(w, &t);
        md_para(w, MSG_SHAPES_NOTE, num_fixed(units_of(m), 0).s, num_percent(SERIAL_SHARE).s);
        serial_evidence(m, w);
    }
    table_release(&t);
}

static void accuracy(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_MAX_ABS), true);
    table_column(&t, message(w->lang, MSG_COL_REL_L2), true);
    table_column(&t, message(w->lang, MSG_COL_ROWS_CHECKED), true);
    for (size_t i = 0; i < m->n_kernels; i++) {
        const struct kernel_point *p = &m->kernels[i];
        if (isnan(p->rel_l2) && isnan(p->max_abs))
            continue;
        table_code(&t, m->now.variants[p->cell->variant].name);
        table_text(&t, num_int(p->cell->context).s);
        table_text(&t, small(p->max_abs).s);
        table_text(&t, small(p->rel_l2).s);
        table_text(&t, num_fixed(p->rows_checked, 0).s);
    }
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_ACCURACY);
        md_table(w, &t);
        md_para(w, MSG_ACCURACY_NOTE);
    }
    table_release(&t);
}

static void roofline(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_TIME_MS), true);
    table_column(&t, "TFLOP/s", true);
    table_column(&t, "GB/s", true);
    table_column(&t, message(w->lang, MSG_COL_COPY), true);
    table_column(&t, message(w->lang, MSG_COL_FMA), true);
    table_column(&t, message(w->lang, MSG_COL_ROOFLINE), true);
    for (size_t i = 0; i < m->n_kernels; i++) {
        const struct kernel_point *p = &m->kernels[i];
        if (isnan(p->copy_gb_per_s) && isnan(p->fma_tflops))
            continue;
        table_code(&t, m->now.variants[p->cell->variant].name);
        table_text(&t, num_int(p->cell->context).s);
        table_text(&t, milliseconds(p->ms).s);
        table_text(&t, num_fixed(p->tflops, 2).s);
        table_text(&t, num_fixed(p->gb_per_s, 1).s);
        table_text(&t, num_fixed(p->copy_gb_per_s, 0).s);
        table_text(&t, num_fixed(p->fma_tflops, 1).s);
        table_text(&t, num_percent(p->roofline_share).s);
    }
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_ROOFLINE);
        md_table(w, &t);
        md_para(w, MSG_ROOFLINE_NOTE);
    }
    table_release(&t);
}

void section_kernel(const struct report_model *m, struct md *w)
{
    shapes(m, w);
    accuracy(m, w);
    roofline(m, w);
}
