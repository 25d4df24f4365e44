#include "reports/model/model.h"

#include "reports/model/parts.h"
#include "results/query/find_run.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COST_ROWS_SHOWN = 8 };

/* Without pictures asked for, nothing is drawn. */
static int draw(struct report_model *m, struct err *err)
{
    const struct report_request *req = m->req;
    if (req->format != REPORT_HTML && !req->asset_dir)
        return 0;
    return plot_set_draw(&m->plots, m, req->n_langs ? req->langs[0] : REPORT_EN, err);
}

/* What the plan says of comparing, unless the request does: it was checked before it was run. */
static int read_plan(struct report_model *m, struct compare_options *compare, const char **reference,
                     struct err *err)
{
    if (report_plan_load(m->req->store, m->now.info.key, &m->plan, err))
        return -1;
    const json_t *threshold = json_object_get(json_object_get(m->plan, "threshold"), "regression");
    const char *word = json_string_value(json_object_get(m->plan, "reference"));
    *compare = m->req->compare;
    if (json_is_number(threshold) && json_number_value(threshold) > 0)
        compare->regression = compare->improvement = json_number_value(threshold);
    *reference = m->req->reference                         ? m->req->reference
                 : word && run_data_variant(&m->now, word) ? word
                                                           : NULL;
    return 0;
}

static int load_run(struct report_model *m, struct compare_options *compare, struct err *err)
{
    const char *reference = NULL;
    if (store_load_run(m->req->store, m->req->run, &m->now, err))
        return -1;
    if (m->now.n_variants == 0)
        return err_set(err, ERR_INPUT, "run %s holds no variant: there is nothing to report",
                       m->now.info.run_id);
    m->metric = run_data_metric(&m->now);
    if (read_plan(m, compare, &reference, err) ||
        run_data_reference(&m->now, reference, &m->reference, err) ||
        compare_variants(&m->now, m->reference, m->metric, &m->vs, &m->n_vs, err) ||
        scaling_of_run(&m->now, &m->scaling, err))
        return err_wrap(err, "run %s", m->now.info.run_id);
    return 0;
}

int report_model_load(struct report_model *m, const struct report_request *req, struct err *err)
{
    struct compare_options compare;
    *m = (struct report_model){.req = req};
    if (load_run(m, &compare, err) || model_comparison(m, &compare, err) || model_findings(m, err) ||
        model_changes(m, err) || model_traces(m, err) || model_memory(m, err) || model_resources(m, err) ||
        model_kernels(m, err) || report_costs_load(req->store, &m->now.info, COST_ROWS_SHOWN, &m->costs, err))
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
    for (size_t v = 0; m->resources && v < m->now.n_variants; v++)
        resources_release(&m->resources[v]);
    free(m->resources);
    free(m->kernels);
    free(m->launches);
    free(m->stages);
    details_release(&m->details);
    json_decref(m->plan);
    free(m->findings);
    free(m->changes);
    comparison_release(&m->comparison);
    against_release(&m->against);
    scaling_set_release(&m->scaling);
    free(m->vs);
    run_data_release(&m->now);
    *m = (struct report_model){0};
}

struct variant_view report_model_view(const struct report_model *m)
{
    return (struct variant_view){
        .run = &m->now,
        .reference = m->reference,
        .vs = m->vs,
        .count = m->n_vs,
        .metric = m->metric,
        .kernels = m->kernels_alone,
    };
}

const char *report_model_variant(const struct report_model *m, size_t variant)
{
    const struct run_variant *v = &m->now.variants[variant];
    return *v->kernel ? v->kernel : v->name;
}

bool report_model_first(const struct report_model *m, size_t variant)
{
    for (size_t v = 0; v < variant; v++)
        if (strcmp(report_model_variant(m, v), report_model_variant(m, variant)) == 0)
            return false;
    return true;
}

const char *report_model_reference(const struct report_model *m)
{
    return report_model_variant(m, m->reference);
}

const char *report_model_bundle(const struct run_info *info)
{
    const char *cut = NULL;
    for (const char *p = info->bundle; (p = strstr(p, "artifacts_remote/")); p++)
        cut = p;
    return cut ? cut : info->bundle;
}

/* How to get from one absolute folder to the other. */
static void relative(struct buf *out, const char *from, const char *to)
{
    size_t same = 0; /* bytes of whole common parts */
    for (size_t i = 0;; i++) {
        bool from_ends = !from[i] || from[i] == '/', to_ends = !to[i] || to[i] == '/';
        if (from_ends && to_ends)
            same = i;
        if (from[i] != to[i] || !from[i])
            break;
    }
    for (const char *p = from + same; *p; p++)
        if (*p == '/' && p[1])
            buf_puts(out, "../");
    buf_puts(out, to + same + (to[same] == '/'));
}

void report_model_link(const struct report_model *m, const char *file, char *out, size_t size)
{
    const char *bundle = m->now.info.bundle, *beside = m->req->beside;
    struct buf folder;
    buf_init(&folder, (size_t)4 * FS_PATH_MAX);
    if (beside && *beside == '/' && *bundle == '/')
        relative(&folder, beside, bundle);
    else
        buf_puts(&folder, report_model_bundle(&m->now.info));
    snprintf(out, size, "%s%s%s", buf_str(&folder), folder.len ? "/" : "", file);
    buf_release(&folder);
}
