/* Kernels: the cells of a kernel benchmark with their shapes, accuracy and place under the roofline. */
#include "reports/model_parts.h"

#include <math.h>
#include <stdlib.h>

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

static bool read_point(const struct extra_list *extras, const struct cell *c, const struct run_test *t,
                       struct kernel_point *p)
{
    *p = (struct kernel_point){
        .cell = c,
        .ms = milliseconds(c),
        .batch = report_extra(extras, t->key, "batch"),
        .heads = report_extra(extras, t->key, "heads"),
        .seq = report_extra(extras, t->key, "seq"),
        .blocks = report_extra(extras, t->key, "grid_blocks"),
        .block_threads = report_extra(extras, t->key, "block_threads"),
        .query_threads = report_extra(extras, t->key, "query_threads"),
        .units = report_extra(extras, t->key, "units"),
        .max_abs = report_extra(extras, t->key, "max_abs"),
        .rel_l2 = report_extra(extras, t->key, "rel_l2"),
        .rows_checked = report_extra(extras, t->key, "rows_checked"),
        .tflops = c->median[METRIC_TFLOPS],
        .gb_per_s = report_extra(extras, t->key, "gb_per_s"),
        .copy_gb_per_s = report_extra(extras, t->key, "copy_gb_per_s"),
        .fma_tflops = report_extra(extras, t->key, "fma_tflops"),
        .roofline_share = report_extra(extras, t->key, "roofline_share"),
    };
    if (isnan(p->seq))
        p->seq = c->context;
    return isfinite(p->heads) || isfinite(p->rel_l2) || isfinite(p->roofline_share);
}

int model_kernels(struct report_model *m, struct err *err)
{
    struct extra_list extras;
    m->kernels = calloc(m->now.n_cells + 1, sizeof *m->kernels);
    if (!m->kernels)
        return err_set(err, ERR_INTERNAL, "report: memory is short");
    int rc = report_extras_load(m->req->store, m->now.info.key, &extras, err);
    for (size_t i = 0; rc == 0 && i < m->now.n_cells; i++) {
        const struct run_test *t = representative(&m->now, &m->now.cells[i]);
        if (t && read_point(&extras, &m->now.cells[i], t, &m->kernels[m->n_kernels]))
            m->n_kernels++;
    }
    report_extras_release(&extras);
    return rc;
}
