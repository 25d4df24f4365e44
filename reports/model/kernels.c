/* Kernels: shapes, accuracy and roofline position of the cells of a kernel benchmark, and the stages of a
 * model's prefill. Read from what tests printed in addition to the timings that every test has. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/model/parts.h"
#include "results/judge/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first counted OK test of a cell, or NULL. */
static const struct run_test *representative(const struct run_data *run, const struct cell *c)
{
    for (size_t i = c->first; i < c->first + c->count; i++)
        if (run->tests[i].status == STATUS_OK && !run->tests[i].warmup)
            return &run->tests[i];
    return NULL;
}

static double milliseconds(const struct cell *c)
{
    double ms = c->median[METRIC_KERNEL_MS];
    return isfinite(ms) ? ms : c->median[METRIC_PREFILL_S] * 1e3;
}

static struct launch read_launch(const struct extra_list *extras, const struct cell *c,
                                 const struct run_test *t, const char *kernel, const struct run_work *work)
{
    return (struct launch){
        .kernel = kernel,
        .ms = milliseconds(c),
        .batch = work->batch,
        .heads = work->heads,
        .seq = isnan(work->seq) ? c->context : work->seq,
        .head_dim = work->head_dim,
        .blocks = report_extra(extras, t->key, "grid_blocks"),
        .block_threads = report_extra(extras, t->key, "block_threads"),
        .query_threads = report_extra(extras, t->key, "query_threads"),
        .units = report_extra(extras, t->key, "units"),
    };
}

static struct kernel_point read_point(const struct extra_list *extras, const struct cell *c,
                                      const struct run_test *t)
{
    return (struct kernel_point){
        .cell = c,
        .max_abs = report_extra(extras, t->key, "max_abs"),
        .rel_l2 = report_extra(extras, t->key, "rel_l2"),
        .rows_checked = report_extra(extras, t->key, "rows_checked"),
        .tflops = c->median[METRIC_TFLOPS],
        .gb_per_s = report_extra(extras, t->key, "gb_per_s"),
        .copy_gb_per_s = report_extra(extras, t->key, "copy_gb_per_s"),
        .fma_tflops = report_extra(extras, t->key, "fma_tflops"),
        .matrix_tflops = report_extra(extras, t->key, "matrix_tflops"),
        .roofline_share = report_extra(extras, t->key, "roofline_share"),
        .kv_heads = t->work.kv_heads,
        .lds = report_extra(extras, t->key, "dynamic_lds_bytes"),
    };
}

static bool says_something(const struct kernel_point *p, const struct launch *l)
{
    return isfinite(l->heads) || isfinite(l->batch) || isfinite(l->block_threads) || isfinite(p->rel_l2) ||
           isfinite(p->roofline_share);
}

/* Variants of one kernel differ only in shape. */
static const char *kernel_name(const struct run_data *run, const struct cell *c)
{
    const struct run_variant *v = &run->variants[c->variant];
    return *c->attn_impl ? c->attn_impl : *v->kernel ? v->kernel : v->name;
}

static void read_stages(struct report_model *m, const struct extra_list *extras)
{
    AUTO_FREE size_t *order = cells_by_context(&m->now);
    m->kernel.stages = xcalloc(m->now.n_cells, sizeof *m->kernel.stages);
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[order[i]];
        const struct run_test *t = representative(&m->now, c);
        if (!t || isnan(report_extra(extras, t->key, "attention_s")))
            continue;
        m->kernel.stages[m->kernel.n_stages++] =
            (struct stage_row){.cell = c,
                               .gemm_s = report_extra(extras, t->key, "gemm_s"),
                               .attention_s = report_extra(extras, t->key, "attention_s"),
                               .other_s = report_extra(extras, t->key, "other_s"),
                               .roofline_share = report_extra(extras, t->key, "roofline_share")};
    }
}

int model_kernels(struct report_model *m, struct err *err)
{
    AUTO(report_extras_release) struct extra_list extras = {0};
    m->kernel.points = xcalloc(m->now.n_cells, sizeof *m->kernel.points);
    m->kernel.launches = xcalloc(m->now.n_cells, sizeof *m->kernel.launches);
    if (report_extras_load(m->subject->store, m->now.info.key, &extras, err) != 0)
        return -1;
    m->kernel.alone = report_extras_kernels_alone(&extras, &m->now);
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        const struct run_test *t = representative(&m->now, c);
        if (!t)
            continue;
        const struct run_work work = work_of(&m->now, c);
        m->kernel.points[m->kernel.count] = read_point(&extras, c, t);
        m->kernel.launches[m->kernel.count] = read_launch(&extras, c, t, kernel_name(&m->now, c), &work);
        if (says_something(&m->kernel.points[m->kernel.count], &m->kernel.launches[m->kernel.count]))
            m->kernel.count++;
    }
    read_stages(m, &extras);
    return 0;
}
