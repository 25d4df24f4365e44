#include "reports/model/ticket.h"

#include "common/base/alloc.h"
#include "reports/model/parts.h"
#include "results/query/report_queries.h"
#include "results/query/sweep_runs.h"
#include "results/store/run_folder.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The summary of a BLOCKED run is all that tells why. */
static int load_blocked(struct ticket_run *r, struct store *s, struct err *err)
{
    AUTO(details_release) struct run_details details = {0};
    if (details_load(s, r->info.key, &details, err) != 0 ||
        model_reason(&details, r->reason, sizeof r->reason, err) != 0)
        return -1;
    return model_pending(&details, r->pending, sizeof r->pending, err);
}

/* The reference and its contexts are those of the newest run that measured anything. */
static int choose_reference(struct ticket_model *m, struct store *s, const struct run_data *run,
                            struct err *err)
{
    bool kernels;
    size_t reference;
    if (report_kernels_alone(s, run, &kernels, err) != 0 ||
        report_reference(s, run, NULL, &reference, err) != 0)
        return -1;
    m->primary = quantity_of(run_data_metric(run), kernels);
    snprintf(m->reference, sizeof m->reference, "%s", run->variants[reference].name);
    return 0;
}

static void add_contexts(struct ticket_model *m, const struct run_data *run)
{
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        size_t at = 0;
        if (strcmp(run->variants[c->variant].name, m->reference) != 0)
            continue;
        while (at < m->n_contexts && m->contexts[at] < c->context)
            at++;
        if (at < m->n_contexts && m->contexts[at] == c->context)
            continue;
        m->more_contexts |= m->n_contexts == TICKET_CONTEXTS_MAX;
        if (at == TICKET_CONTEXTS_MAX)
            continue;
        m->n_contexts += m->n_contexts < TICKET_CONTEXTS_MAX;
        memmove(&m->contexts[at + 1], &m->contexts[at], (m->n_contexts - at - 1) * sizeof *m->contexts);
        m->contexts[at] = c->context;
    }
}

static void take_values(const struct ticket_model *m, const struct run_data *run, struct ticket_run *r)
{
    for (size_t i = 0; i < TICKET_CONTEXTS_MAX; i++) {
        const struct cell *c = i < m->n_contexts ? run_data_cell(run, m->reference, m->contexts[i]) : NULL;
        r->value[i] = c ? c->median[m->primary.metric] : NAN;
    }
}

static size_t run_before(const struct ticket_model *m, size_t at)
{
    const struct run_info *now = &m->runs[at].info;
    for (size_t i = at; i-- > 0;)
        if (m->runs[i].measured && !*m->runs[i].info.rejected &&
            strcmp(m->runs[i].info.node, now->node) == 0 && strcmp(m->runs[i].info.mode, now->mode) == 0)
            return i;
    return m->n_runs;
}

static int judge(struct ticket_model *m, struct store *s, struct ticket_run *r, struct err *err)
{
    const struct report_subject by_nights = {
        .store = s, .run = r->info.run_id, .compare = compare_defaults()};
    struct report_subject by_run = by_nights;
    by_run.against = r->before < m->n_runs ? m->runs[r->before].info.run_id : NULL;
    AUTO(report_model_release) struct report_model report = {0};
    int rc = model_judge(&report, &by_nights, err);
    if (rc == 0 && !report.has_comparison && by_run.against) {
        report_model_release(&report);
        snprintf(r->against, sizeof r->against, "%s", by_run.against);
        rc = model_judge(&report, &by_run, err);
    }
    r->compared = rc == 0 && report.has_comparison;
    if (r->compared) {
        snprintf(r->baseline, sizeof r->baseline, "%s", report.base.name);
        memcpy(r->verdicts, report.comparison->verdicts, sizeof r->verdicts);
    }
    return rc;
}

typedef int with_run_fn(struct ticket_model *m, struct store *s, const struct run_data *run,
                        struct ticket_run *r, struct err *err);

static int take_info(struct ticket_model *m, struct store *s, const struct run_data *run,
                     struct ticket_run *r, struct err *err)
{
    r->info = run->info;
    if (run_folder_was_reused(r->info.bundle, r->info.run_id))
        *r->info.bundle = '\0';
    r->measured = run->info.counts.ok > 0;
    if (r->info.status == RUN_BLOCKED && load_blocked(r, s, err) != 0)
        return -1;
    return r->measured ? choose_reference(m, s, run, err) : 0;
}

static int take_contexts(struct ticket_model *m, struct store *s, const struct run_data *run,
                         struct ticket_run *r, struct err *err)
{
    (void)s;
    (void)r;
    (void)err;
    add_contexts(m, run);
    return 0;
}

static int take_rest(struct ticket_model *m, struct store *s, const struct run_data *run,
                     struct ticket_run *r, struct err *err)
{
    take_values(m, run, r);
    r->before = run_before(m, (size_t)(r - m->runs));
    return r->measured && !*r->info.rejected ? judge(m, s, r, err) : 0;
}

static int each_run(struct ticket_model *m, struct store *s, const int64_t *keys, with_run_fn *fn,
                    struct err *err)
{
    for (size_t i = 0; i < m->n_runs; i++) {
        AUTO(run_data_release) struct run_data run = {0};
        if (run_data_load(s, keys[i], &run, err) != 0 || fn(m, s, &run, &m->runs[i], err) != 0)
            return -1;
    }
    return 0;
}

static void count(struct ticket_model *m)
{
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct run_info *r = &m->runs[i].info;
        bool other_node = true;
        for (size_t k = 0; k < i; k++)
            other_node = other_node && strcmp(m->runs[k].info.node, r->node) != 0;
        m->n_nodes += other_node;
        m->n_dates += i == 0 || strcmp(m->runs[i - 1].info.date, r->date) != 0;
        m->n_measured += m->runs[i].measured;
        m->n_blocked += r->status == RUN_BLOCKED;
    }
}

int ticket_model_load(struct ticket_model *m, struct store *s, const char *ticket, struct err *err)
{
    AUTO_FREE int64_t *keys = NULL;
    *m = (struct ticket_model){.primary = quantity_of(METRIC_PREFILL_S, false)};
    snprintf(m->ticket, sizeof m->ticket, "%s", ticket);
    if (ticket_runs(s, ticket, TICKET_RUNS_MAX, &keys, &m->n_runs, &m->total, err) != 0)
        return -1;
    if (m->n_runs == 0)
        return err_set(err, ERR_INPUT, "%s: the store has no sweep of this ticket", ticket);
    m->runs = xcalloc(m->n_runs, sizeof *m->runs);
    if (each_run(m, s, keys, take_info, err) != 0 || each_run(m, s, keys, take_contexts, err) != 0 ||
        each_run(m, s, keys, take_rest, err) != 0)
        return -1;
    count(m);
    return notes_load(s, ticket, NULL, &m->notes, err);
}

void ticket_model_release(struct ticket_model *m)
{
    free(m->runs);
    notes_release(&m->notes);
    *m = (struct ticket_model){0};
}
