/* Kernels: shapes, accuracy and roofline position of the cells of a kernel benchmark, and the stages of a
 * model's prefill. Read from what tests printed in addition to the timings that every test has. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/model/parts.h"

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

/* The number that follows one of these names in a shape such as "b4h1" or "batch4_heads1". */
static double dimension(const char *shape, const char *letter, const char *word)
{
    while (*shape) {
        shape += strspn(shape, "_");
        size_t name = strcspn(shape, "0123456789"), digits = strspn(shape + name, "0123456789");
        bool is_word = name == strlen(word) && strncmp(shape, word, name) == 0;
        if (digits > 0 && digits < 10 && (is_word || (name == 1 && *shape == *letter)))
            return (double)strtoul(shape + name, NULL, 10);
        shape += name + digits;
    }
    return (double)NAN;
}

static double printed_or(double printed, double in_shape)
{
    return isnan(printed) ? in_shape : printed;
}

static struct launch read_launch(const struct extra_list *extras, const struct cell *c,
                                 const struct run_test *t, const char *kernel, const char *shape)
{
    struct launch l = {
        .kernel = kernel,
        .ms = milliseconds(c),
        .batch = printed_or(report_extra(extras, t->key, "batch"), dimension(shape, "b", "batch")),
        .heads = printed_or(report_extra(extras, t->key, "heads"), dimension(shape, "h", "heads")),
        .seq = report_extra(extras, t->key, "seq"),
        .head_dim = printed_or(report_extra(extras, t->key, "head_dim"), dimension(shape, "d", "head_dim")),
        .blocks = report_extra(extras, t->key, "grid_blocks"),
        .block_threads = report_extra(extras, t->key, "block_threads"),
        .query_threads = report_extra(extras, t->key, "query_threads"),
        .units = report_extra(extras, t->key, "units"),
    };
    if (isnan(l.seq))
        l.seq = c->context;
    return l;
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
        .kv_heads = report_extra(extras, t->key, "kv_heads"),
        .lds = report_extra(extras, t->key, "dynamic_lds_bytes"),
    };
}

/* Whether the counted OK tests of a cell did different work, as in imports without a column for the shape. */
static bool several_shapes(const struct extra_list *extras, const struct run_data *run, const struct cell *c)
{
    static const char *const names[] = {"batch", "heads", "kv_heads", "seq", "head_dim"};
    const struct run_test *first = representative(run, c);
    for (size_t i = c->first; i < c->first + c->count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const struct run_test *t = &run->tests[i];
            double a = report_extra(extras, first->key, names[k]), b = report_extra(extras, t->key, names[k]);
            if (t->status == STATUS_OK && !t->warmup && isfinite(a) && isfinite(b) && a != b)
                return true;
        }
    return false;
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

/* Variants that do different work are not ranked, in any table or picture. */
static void leave_unlike(struct report_model *m)
{
    for (size_t i = 0; i < m->n_vs; i++)
        if (m->vs[i].variant != m->vs[i].reference && !insight_like_work(m, &m->now.cells[i], &m->vs[i]))
            m->vs[i].factor = m->vs[i].factor_error = (double)NAN;
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
        m->kernel.points[m->kernel.count] = read_point(&extras, c, t);
        m->kernel.points[m->kernel.count].shapes = several_shapes(&extras, &m->now, c);
        m->kernel.launches[m->kernel.count] =
            read_launch(&extras, c, t, kernel_name(&m->now, c), m->now.variants[c->variant].shape);
        if (says_something(&m->kernel.points[m->kernel.count], &m->kernel.launches[m->kernel.count]))
            m->kernel.count++;
    }
    read_stages(m, &extras);
    leave_unlike(m);
    return 0;
}
