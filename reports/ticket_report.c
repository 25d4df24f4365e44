#include "reports/ticket_report.h"

#include "common/base/alloc.h"
#include "reports/model/ticket.h"
#include "reports/render/html.h"
#include "reports/render/markdown.h"
#include "reports/sections/bundle.h"
#include "reports/sections/notes.h"
#include "reports/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_head(const struct ticket_model *m, struct md *w)
{
    const char *first = m->runs[0].info.date, *last = m->runs[m->n_runs - 1].info.date;
    buf_puts(w->out, "# ");
    md_say(w, MSG_TITLE_TICKET, m->ticket);
    md_end(w);
    if (m->n_dates == 1)
        md_para(w, MSG_BYLINE_TICKET_DATE, first, num_int((int64_t)m->n_runs).s);
    else
        md_para(w, MSG_BYLINE_TICKET, first, last, num_int((int64_t)m->n_runs).s);
}

static bool is_comparable(const struct ticket_run *r, const struct ticket_run *with, size_t context)
{
    return !*r->info.rejected && !isnan(r->value[context]) && strcmp(r->info.node, with->info.node) == 0 &&
           strcmp(r->info.mode, with->info.mode) == 0;
}

/* The first and the last run of those between which the reference can be compared at that context: on the
 * node and in the mode of the last. */
static bool find_ends(const struct ticket_model *m, size_t context, const struct ticket_run **first,
                      const struct ticket_run **last)
{
    *first = *last = NULL;
    for (size_t i = m->n_runs; i-- > 0;) {
        const struct ticket_run *r = &m->runs[i];
        if (!is_comparable(r, *last ? *last : r, context))
            continue;
        *first = *last ? r : NULL;
        *last = *last ? *last : r;
    }
    return *first != NULL;
}

/* What lies between the first and the last run may be beyond both. */
static void write_range(const struct ticket_model *m, size_t context, const struct ticket_run *last,
                        struct md *w)
{
    double low = last->value[context], high = low;
    int64_t n = 0;
    for (size_t i = 0; i < m->n_runs; i++) {
        if (!is_comparable(&m->runs[i], last, context))
            continue;
        low = fmin(low, m->runs[i].value[context]);
        high = fmax(high, m->runs[i].value[context]);
        n++;
    }
    if (n > 2)
        md_say(w, MSG_TICKET_RANGE, num_int(n).s, metric_beside(m->primary.metric, low, high).s,
               metric_with_unit(m->primary.metric, high).s);
}

static void write_change(const struct ticket_model *m, size_t context, struct md *w)
{
    const struct ticket_run *first, *last;
    enum metric metric = m->primary.metric;
    if (!find_ends(m, context, &first, &last) || !(first->value[context] > 0))
        return;
    md_bullet(w);
    md_say(w, MSG_TICKET_CHANGE, m->reference, num_int(m->contexts[context]).s,
           metric_beside(metric, first->value[context], last->value[context]).s, first->info.date,
           metric_beside(metric, last->value[context], first->value[context]).s, last->info.date,
           num_change(last->value[context] / first->value[context] - 1).s);
    write_range(m, context, last, w);
    md_line(w);
}

static void write_summary(const struct ticket_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_SUMMARY);
    md_item(w, MSG_TICKET_RUNS, num_int((int64_t)m->n_measured).s, num_int((int64_t)m->n_runs).s,
            num_int((int64_t)m->n_blocked).s);
    for (size_t i = 0; i < m->n_contexts; i++)
        write_change(m, i, w);
    for (size_t i = 0; i < m->n_runs; i++)
        if (m->runs[i].info.status == RUN_BLOCKED)
            md_item(w, MSG_TICKET_BLOCKED_ON, m->runs[i].info.date,
                    *m->runs[i].reason ? m->runs[i].reason : NUM_NONE);
    if (m->total > m->n_runs)
        md_item(w, MSG_TICKET_NEWEST, num_int((int64_t)m->n_runs).s, num_int((int64_t)m->total).s);
    md_end(w);
    if (!notes_any(&m->notes, ""))
        return;
    md_heading(w, 2, MSG_H_NOTES);
    md_para(w, MSG_NOTES_ABOUT);
    notes_write(&m->notes, "", 3, w);
}

/* The run's report where it stands beside the bundle, else the bundle. */
static void add_run(struct table *t, const struct md *w, const struct run_info *r)
{
    char report[FS_PATH_MAX + 8], link[2 * FS_PATH_MAX];
    snprintf(report, sizeof report, "%s.md", r->bundle);
    bool has_report = *r->bundle && fs_exists(report);
    if (!*r->bundle || strcmp(r->origin, "import") == 0) {
        table_code(t, r->run_id);
        return;
    }
    bundle_link(w, r, "", link, sizeof link);
    size_t len = strlen(link);
    if (has_report && len > 0 && len + 3 < sizeof link)
        snprintf(link + len - 1, sizeof link - len + 1, ".md");
    table_link(t, r->run_id, link);
}

static void add_verdict(struct table *t, const struct ticket_model *m, const struct ticket_run *r,
                        enum report_lang lang)
{
    AUTO(buf_release) struct buf words = {.max = TABLE_CELL_MAX};
    struct comparison counts = {0};
    memcpy(counts.verdicts, r->verdicts, sizeof counts.verdicts);
    if (*r->info.rejected)
        message_plain(&words, lang, MSG_TICKET_REJECTED);
    else if (r->compared)
        verdict_counts(&counts, lang, &words);
    table_text(t, words.len ? buf_str(&words) : NUM_NONE);
    if (*r->baseline)
        table_code(t, r->baseline);
    else
        table_text(t, !r->compared  ? NUM_NONE
                      : *r->against ? m->runs[r->before].info.date
                                    : message(lang, MSG_TICKET_NIGHTS));
}

static void write_runs(const struct ticket_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    /* The verdict stands first, so that a narrow window shows it. */
    table_texts(&t, w->lang, MSG_COL_DATE, MSG_COL_VERDICT, MSG_COL_COMPARED_WITH, MSG_COL_STATUS);
    table_numbers(&t, w->lang, MSG_COL_TESTS);
    table_texts(&t, w->lang, MSG_COL_NODE, MSG_COL_RUN);
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct run_info *r = &m->runs[i].info;
        char tests[48];
        snprintf(tests, sizeof tests, "%d/%d", r->counts.ok, r->counts.total);
        table_text(&t, r->date);
        add_verdict(&t, m, &m->runs[i], w->lang);
        table_marked(&t, run_status_name(r->status),
                     r->status == RUN_BLOCKED    ? MARK_BAD
                     : r->status == RUN_COMPLETE ? MARK_NONE
                                                 : MARK_WARN);
        table_text(&t, r->counts.total ? tests : NUM_NONE);
        table_code(&t, r->node);
        add_run(&t, w, r);
    }
    md_heading(w, 2, MSG_H_TICKET_RUNS);
    md_table(w, &t);
}

static void add_value(struct table *t, const struct ticket_model *m, const struct ticket_run *r,
                      size_t context)
{
    char text[3 * NUM_TEXT_MAX];
    double before = r->before < m->n_runs ? m->runs[r->before].value[context] : NAN;
    const struct num value = quantity_text(&m->primary, r->value[context]);
    if (before > 0 && !isnan(r->value[context]))
        snprintf(text, sizeof text, "%s (%s)", value.s, num_change(r->value[context] / before - 1).s);
    else
        snprintf(text, sizeof text, "%s", value.s);
    table_text(t, text);
}

static void write_reference(const struct ticket_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf title = {.max = 256};
    table_texts(&t, w->lang, MSG_COL_DATE, MSG_COL_NODE, MSG_COL_MODE);
    for (size_t c = 0; c < m->n_contexts; c++) {
        buf_clear(&title);
        message_plain(&title, w->lang, MSG_COL_AT_CONTEXT, num_int(m->contexts[c]).s);
        table_column(&t, buf_str(&title), true);
    }
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct ticket_run *r = &m->runs[i];
        if (!r->measured || *r->info.rejected)
            continue;
        table_text(&t, r->info.date);
        table_code(&t, r->info.node);
        table_code(&t, r->info.mode);
        for (size_t c = 0; c < m->n_contexts; c++)
            add_value(&t, m, r, c);
    }
    md_heading(w, 2, MSG_H_TICKET_REFERENCE);
    md_para(w, MSG_TICKET_REFERENCE_NOTE, m->reference, quantity_title(&m->primary, w->lang));
    md_table(w, &t);
    if (m->more_contexts)
        md_para(w, MSG_TICKET_MORE_CONTEXTS, num_int(TICKET_CONTEXTS_MAX).s);
}

/* The first run with results after it on the same node; NULL if there is none. */
static const struct ticket_run *measured_since(const struct ticket_model *m, size_t blocked)
{
    for (size_t i = blocked + 1; i < m->n_runs; i++)
        if (m->runs[i].measured && strcmp(m->runs[i].info.node, m->runs[blocked].info.node) == 0)
            return &m->runs[i];
    return NULL;
}

static void write_blocked(const struct ticket_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 2, MSG_H_TICKET_BLOCKED);
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct ticket_run *r = &m->runs[i], *since = measured_since(m, i);
        if (r->info.status != RUN_BLOCKED)
            continue;
        md_para(w, MSG_TICKET_BLOCKED, r->info.date, r->info.run_id, r->info.node,
                *r->reason ? r->reason : NUM_NONE);
        if (since)
            md_para(w, MSG_TICKET_MEASURED_SINCE, since->info.date);
        if (!*r->pending)
            continue;
        md_para(w, MSG_TICKET_PENDING);
        md_code_block(w, "bash", r->pending, strlen(r->pending));
    }
    md_part_end(w, &part);
}

static void write_run_notes(const struct ticket_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 2, MSG_H_TICKET_RUN_NOTES);
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct run_info *r = &m->runs[i].info;
        char title[RUN_ID_MAX + 16];
        if (!notes_any(&m->notes, r->run_id))
            continue;
        snprintf(title, sizeof title, "%s: %s", r->date, r->run_id);
        md_title(w, 3, title);
        notes_write(&m->notes, r->run_id, 4, w);
    }
    md_part_end(w, &part);
}

static int write_markdown(const struct ticket_model *m, const struct report_request *req, struct buf *out,
                          struct err *err)
{
    const struct md_place place = {.folder = req->beside};
    struct md w = {.out = out, .lang = req->n_langs ? req->langs[0] : REPORT_EN, .place = &place};
    write_head(m, &w);
    write_summary(m, &w);
    for (size_t i = 1; i < req->n_langs; i++) {
        struct md other = w;
        other.lang = req->langs[i];
        md_language(&other);
        write_summary(m, &other);
    }
    if (req->n_langs > 1)
        md_language(&w);
    write_runs(m, &w);
    if (m->n_contexts > 0)
        write_reference(m, &w);
    write_blocked(m, &w);
    write_run_notes(m, &w);
    return buf_ok(out)
               ? 0
               : err_set(err, ERR_INTERNAL, "the report of ticket %s exceeds %zu bytes", m->ticket, out->max);
}

int ticket_report_render(const struct report_request *req, const char *ticket, struct buf *out,
                         struct err *err)
{
    AUTO(ticket_model_release) struct ticket_model m = {0};
    AUTO(buf_release) struct buf markdown = {.max = REPORT_BYTES_MAX};
    const struct figure_set none = {0};
    bool html = req->format == REPORT_HTML;
    if (ticket_model_load(&m, req->store, ticket, err) != 0 ||
        write_markdown(&m, req, html ? &markdown : out, err) != 0)
        return -1;
    return html ? html_render(&markdown, &none, req->n_langs ? req->langs[0] : REPORT_EN, m.ticket, out, err)
                : 0;
}
