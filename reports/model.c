#include "reports/model.h"

#include "reports/model_parts.h"
#include "results/baseline.h"
#include "results/runs.h"

#include <stdlib.h>
#include <string.h>

enum { COST_ROWS_SHOWN = 8 };

static int load_named_baseline(struct report_model *m, struct err *err)
{
    struct baseline b;
    if (baseline_resolve(m->req->store, m->req->baseline, &m->now.info, &b, err))
        return -1;
    memcpy(m->baseline, b.name, sizeof m->baseline);
    m->base_is_now = b.key == m->now.info.key;
    if (m->base_is_now)
        return 0;
    m->has_base = true;
    return run_data_load(m->req->store, b.key, &m->base, err);
}

static int load_base(struct report_model *m, struct err *err)
{
    if (m->req->against && m->req->baseline)
        return err_set(err, ERR_INPUT, "report: give a run to compare with or a baseline, not both");
    if (m->req->baseline)
        return load_named_baseline(m, err);
    if (!m->req->against)
        return 0;
    m->has_base = true;
    if (store_load_run(m->req->store, m->req->against, &m->base, err))
        return -1;
    m->base_is_now = m->base.info.key == m->now.info.key;
    m->has_base = !m->base_is_now;
    return 0;
}

/* Without a base, nights judge the run when there are enough of them. */
static int compare(struct report_model *m, struct err *err)
{
    if (history_for_run(m->req->store, &m->now.info, m->compare.all_metrics, &m->history, err))
        return -1;
    if (!m->has_base && m->history.nights < m->compare.history_min)
        return 0;
    m->has_comparison = true;
    return compare_runs(m->has_base ? &m->base : NULL, &m->now, &m->history, &m->compare, &m->comparison,
                        err);
}

/* Without pictures asked for, nothing is drawn. */
static int draw(struct report_model *m, struct err *err)
{
    const struct report_request *req = m->req;
    if (req->format != REPORT_HTML && !req->asset_dir)
        return 0;
    return plot_set_draw(&m->plots, m, req->n_langs ? req->langs[0] : REPORT_EN, err);
}

/* What the plan says of comparing, unless the request does: it was checked before it was run. */
static int read_plan(struct report_model *m, const char **reference, struct err *err)
{
    if (report_plan_load(m->req->store, m->now.info.key, &m->plan, err))
        return -1;
    const json_t *threshold = json_object_get(json_object_get(m->plan, "threshold"), "regression");
    const char *word = json_string_value(json_object_get(m->plan, "reference"));
    m->compare = m->req->compare;
    if (json_is_number(threshold) && json_number_value(threshold) > 0)
        m->compare.regression = m->compare.improvement = json_number_value(threshold);
    *reference = m->req->reference                         ? m->req->reference
                 : word && run_data_variant(&m->now, word) ? word
                                                           : NULL;
    return 0;
}

static enum metric deciding_metric(const struct run_data *run)
{
    bool kernel = false;
    for (size_t i = 0; i < run->n_cells; i++) {
        if (run->cells[i].n[METRIC_PREFILL_S])
            return METRIC_PREFILL_S;
        kernel |= run->cells[i].n[METRIC_KERNEL_MS] > 0;
    }
    return kernel ? METRIC_KERNEL_MS : METRIC_PREFILL_S;
}

static int load_run(struct report_model *m, struct err *err)
{
    const char *reference = NULL;
    if (store_load_run(m->req->store, m->req->run, &m->now, err))
        return -1;
    if (m->now.n_variants == 0)
        return err_set(err, ERR_INPUT, "run %s holds no variant: there is nothing to report",
                       m->now.info.run_id);
    m->metric = deciding_metric(&m->now);
    if (read_plan(m, &reference, err) || run_data_reference(&m->now, reference, &m->reference, err) ||
        compare_variants(&m->now, m->reference, m->metric, &m->vs, &m->n_vs, err) ||
        scaling_of_run(&m->now, &m->scaling, err))
        return err_wrap(err, "run %s", m->now.info.run_id);
    return 0;
}

int report_model_load(struct report_model *m, const struct report_request *req, struct err *err)
{
    *m = (struct report_model){.req = req};
    if (load_run(m, err) || load_base(m, err) || compare(m, err) || model_findings(m, err) ||
        model_traces(m, err) || model_memory(m, err) ||
        report_costs_load(req->store, &m->now.info, COST_ROWS_SHOWN, &m->costs, err))
        return -1;
    return draw(m, err);
}

void report_model_release(struct report_model *m)
{
    plot_set_release(&m->plots);
    for (size_t i = 0; i < m->n_traces; i++) {
        free(m->traces[i].t);
        free(m->traces[i].bytes);
    }
    free(m->traces);
    free(m->memory);
    report_costs_release(&m->costs);
    json_decref(m->plan);
    free(m->findings);
    comparison_release(&m->comparison);
    history_release(&m->history);
    scaling_set_release(&m->scaling);
    free(m->vs);
    run_data_release(&m->base);
    run_data_release(&m->now);
    *m = (struct report_model){0};
}

struct variant_view report_model_view(const struct report_model *m)
{
    return (struct variant_view){.run = &m->now, .reference = m->reference, .vs = m->vs, .count = m->n_vs};
}

const char *report_model_reference(const struct report_model *m)
{
    return m->now.variants[m->reference].name;
}

const char *report_model_bundle(const struct run_info *info)
{
    const char *cut = NULL;
    for (const char *p = info->bundle; (p = strstr(p, "artifacts_remote/")); p++)
        cut = p;
    return cut ? cut : info->bundle;
}
