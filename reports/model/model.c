#include "reports/model/model.h"

#include "common/base/text.h"
#include "reports/model/parts.h"
#include "results/query/find_run.h"
#include "results/store/run_folder.h"
#include "results/store/runs.h"

#include <stdlib.h>
#include <string.h>

enum { COST_ROWS_SHOWN = 8 };

/* A report must not send its reader to the bundle of another run. */
static void drop_reused_folder(struct run_info *run)
{
    if (run_folder_was_reused(run->bundle, run->run_id))
        *run->bundle = '\0';
}

static int load_run(struct report_model *m, struct err *err)
{
    const struct report_subject *subject = m->subject;
    if (store_load_run(subject->store, subject->run, &m->now, err))
        return -1;
    drop_reused_folder(&m->now.info);
    if (m->now.n_variants == 0)
        return err_set(err, ERR_INPUT, "run %s has no variants: there is nothing to report",
                       m->now.info.run_id);
    if (report_plan_load(subject->store, m->now.info.key, &m->plan, err))
        return -1;
    enum metric metric = run_data_metric(&m->now);
    m->primary = quantity_of(metric, false);
    if (report_reference(subject->store, &m->now, subject->reference, &m->reference, err))
        return err_wrap(err, "run %s", m->now.info.run_id);
    scaling_of_run(&m->now, &m->scaling);
    m->vs = compare_variants(&m->now, m->reference, metric);
    m->n_vs = m->now.n_cells;
    return 0;
}

static int summary_text(const struct run_details *details, const char *key, char *out, size_t size,
                        struct err *err)
{
    const struct run_file *f = details_file(details, "summary.json");
    if (!f || !f->body)
        return 0;
    json_auto_t *summary = json_parse(f->body, strlen(f->body), f->path, err);
    const char *text = json_string_value(json_object_get(summary, key));
    if (text)
        text_printable_fixed(out, size, text, strlen(text));
    return summary ? 0 : -1;
}

int model_reason(const struct run_details *details, char *out, size_t size, struct err *err)
{
    return summary_text(details, "reason", out, size, err);
}

int model_pending(const struct run_details *details, char *out, size_t size, struct err *err)
{
    return summary_text(details, "pending", out, size, err);
}

static int load_parts(struct report_model *m, struct err *err)
{
    if (load_run(m, err) != 0 || model_comparison(m, err) != 0 || model_commits(m, err) != 0)
        return -1;
    model_findings(m);
    if (model_changes(m, err) != 0 || model_plotted(m, err) != 0 || model_traces(m, err) != 0 ||
        model_memory(m, err) != 0 || model_resources(m, err) != 0 ||
        model_reason(&m->details, m->reason, sizeof m->reason, err) != 0 ||
        model_pending(&m->details, m->pending, sizeof m->pending, err) != 0 ||
        model_changed_code(m, err) != 0 || model_kernels(m, err) != 0)
        return -1;
    model_launched(m);
    if (notes_load(m->subject->store, m->now.info.ticket, m->now.info.run_id, &m->notes, err) != 0)
        return -1;
    return report_costs_load(m->subject->store, &m->now.info, COST_ROWS_SHOWN, &m->costs, err);
}

static void begin(struct report_model *m, const struct report_subject *subject)
{
    *m = (struct report_model){.subject = subject};
    m->against = &m->base.own_against;
    m->comparison = &m->base.own_comparison;
}

int model_judge(struct report_model *m, const struct report_subject *subject, struct err *err)
{
    begin(m, subject);
    return load_run(m, err) != 0 ? -1 : model_comparison(m, err);
}

int report_model_load(struct report_model *m, const struct report_subject *subject, struct err *err)
{
    const struct compare_options o = compare_defaults();
    begin(m, subject);
    int rc = load_parts(m, err);
    if (rc == 0)
        m->cards = standings_compare(&m->now, PLACE_GPU, m->primary.metric, &o, &m->n_cards);
    m->primary = quantity_of(m->primary.metric, m->kernel.alone);
    m->scaled = quantity_of(m->scaling.metric, m->kernel.alone);
    m->subject = NULL;
    return rc;
}

void report_model_release(struct report_model *m)
{
    for (size_t i = 0; i < m->memory.n_traces; i++) {
        free(m->memory.traces[i].t);
        free(m->memory.traces[i].bytes);
    }
    free(m->memory.traces);
    free(m->memory.cells);
    report_costs_release(&m->costs);
    notes_release(&m->notes);
    free(m->cards);
    for (size_t v = 0; m->resources && v < m->now.n_variants; v++)
        resources_release(&m->resources[v]);
    free(m->resources);
    free(m->kernel.points);
    free(m->kernel.launches);
    free(m->kernel.stages);
    changed_code_release(&m->base.changed_code);
    details_release(&m->details);
    json_decref(m->plan);
    free(m->findings);
    free(m->history.changes);
    comparison_release(&m->base.own_comparison);
    against_release(&m->base.own_against);
    counted_release(&m->base.counted);
    scaling_set_release(&m->scaling);
    free(m->vs);
    run_data_release(&m->now);
    *m = (struct report_model){0};
}

const char *report_model_variant(const struct report_model *m, size_t variant)
{
    const struct run_variant *v = &m->now.variants[variant];
    return *v->kernel ? v->kernel : v->name;
}

bool report_model_same(const struct report_model *m, size_t a, size_t b)
{
    return strcmp(report_model_variant(m, a), report_model_variant(m, b)) == 0;
}

bool report_model_first(const struct report_model *m, size_t variant)
{
    for (size_t v = 0; v < variant; v++)
        if (report_model_same(m, v, variant))
            return false;
    return true;
}

const char *report_model_reference(const struct report_model *m)
{
    return run_data_reference_name(&m->now, m->reference);
}
