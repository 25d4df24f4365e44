#include "reports/sweep_report.h"

#include "results/query/report_queries.h"

#include "common/base/alloc.h"
#include "reports/render/html.h"
#include "reports/render/markdown.h"
#include "reports/tables/sweep_tables.h"

#include <string.h>

enum { FACTS_SHOWN = 16 };

typedef void side_table(struct table *t, const struct sweep_model *m, const size_t *sides, size_t n,
                        enum report_lang lang);

static size_t count_measured(const struct sweep_model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_sides; i++)
        n += m->sides[i].measured;
    return n;
}

static void write_head(const struct sweep_model *m, const struct sweep_request *req, struct md *w)
{
    const char *ticket = *m->ticket ? m->ticket : req->ticket ? req->ticket : m->id;
    buf_puts(w->out, "# ");
    md_say(w, MSG_TITLE_SWEEP, ticket, num_int((int64_t)m->n_sides).s);
    md_end(w);
    md_para(w, MSG_BYLINE_SWEEP, *m->date ? m->date : NUM_NONE, m->id);
}

static void write_standing(const struct sweep_model *m, const struct sweep_side *s, struct md *w)
{
    if (!s->measured && *s->failure)
        md_item(w, MSG_SWEEP_BLOCKED, s->node, s->failure);
    else if (s->has_run && !s->measured)
        md_item(w, MSG_SWEEP_NOTHING, s->node, s->run.info.run_id, run_status_name(s->run.info.status));
    else if (!s->has_run)
        md_item(w, MSG_SWEEP_UNFINISHED, s->node);
    else if (s->cells > 0)
        md_item(w, MSG_SWEEP_STANDS, s->node, num_factor(s->ratio).s, quantity_title(&m->primary, w->lang),
                m->sides[m->reference].node, num_int((int64_t)s->cells).s, num_factor(s->low).s,
                num_factor(s->high).s);
}

static void write_summary(const struct sweep_model *m, struct md *w)
{
    size_t runs = count_measured(m);
    md_heading(w, 2, MSG_H_SUMMARY);
    md_bullet(w);
    if (runs == m->n_sides)
        md_say(w, MSG_SWEEP_ALL, num_int((int64_t)runs).s);
    else
        md_say(w, MSG_SWEEP_SOME, num_int((int64_t)runs).s, num_int((int64_t)m->n_sides).s);
    md_line(w);
    for (size_t i = 0; i < m->n_sides; i++)
        write_standing(m, &m->sides[i], w);
    md_end(w);
}

static void write_nodes(const struct sweep_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_sweep_nodes(&t, m, w->lang);
    md_heading(w, 2, MSG_H_NODES);
    md_table(w, &t);
}

/* As many tables as the nodes need. */
static void write_parts(const struct sweep_model *m, side_table *fill, struct md *w)
{
    size_t sides[SWEEP_TABLE_SIDES], n;
    for (size_t part = 0; (n = sweep_table_sides(m, part, sides)) > 0; part++) {
        AUTO(table_release) struct table t = {0};
        fill(&t, m, sides, n, w->lang);
        md_table(w, &t);
    }
}

static void write_body(const struct sweep_model *m, struct md *w)
{
    write_nodes(m, w);
    if (m->n_cells > 0) {
        md_heading(w, 2, MSG_H_SIDE_BY_SIDE);
        md_para(w, MSG_SWEEP_CELLS_NOTE, m->sides[m->reference].node);
        write_parts(m, table_sweep_cells, w);
    }
    md_heading(w, 2, MSG_H_NODE_FACTS);
    if (count_measured(m) < 2)
        md_para(w, MSG_SWEEP_ONE_NODE);
    else if (m->n_facts == 0)
        md_para(w, MSG_SWEEP_NO_FACTS);
    else {
        md_para(w, MSG_SWEEP_FACTS_NOTE);
        write_parts(m, table_sweep_facts, w);
    }
}

/* Without languages of its own, the request gets those of the plan of the first run. */
static int choose_langs(const struct sweep_model *m, struct sweep_request *req, struct err *err)
{
    json_auto_t *plan = NULL;
    for (size_t i = 0; req->n_langs == 0 && !plan && i < m->n_sides; i++)
        if (m->sides[i].has_run && report_plan_load(req->store, m->sides[i].run.info.key, &plan, err) != 0)
            return -1;
    if (req->n_langs == 0)
        req->n_langs = report_langs_of_plan(plan, req->langs);
    return 0;
}

static int write_markdown(const struct sweep_model *m, const struct sweep_request *req, struct buf *out,
                          struct err *err)
{
    struct md w = {.out = out, .lang = req->langs[0]};
    write_head(m, req, &w);
    write_summary(m, &w);
    for (size_t i = 1; i < req->n_langs; i++) {
        struct md other = {.out = out, .lang = req->langs[i]};
        md_language(&other);
        write_summary(m, &other);
    }
    if (req->n_langs > 1)
        md_language(&w);
    write_body(m, &w);
    return buf_ok(out)
               ? 0
               : err_set(err, ERR_INTERNAL, "the report of sweep %s exceeds %zu bytes", m->id, out->max);
}

static int write_html(const struct sweep_model *m, const struct sweep_request *req,
                      const struct buf *markdown, struct buf *out, struct err *err)
{
    const struct figure_set none = {0};
    return html_render(markdown, &none, req->langs[0], m->id, out, err);
}

int sweep_report_render_both(const struct sweep_request *asked, struct buf *markdown, struct buf *html,
                             struct err *err)
{
    AUTO(sweep_model_release) struct sweep_model m = {0};
    struct sweep_request req = *asked;
    if (sweep_model_load(&m, req.store, req.sweep, req.nodes, req.n_nodes, err) != 0 ||
        choose_langs(&m, &req, err) != 0 || write_markdown(&m, &req, markdown, err) != 0)
        return -1;
    return write_html(&m, &req, markdown, html, err);
}

int sweep_report_render(const struct sweep_request *req, struct buf *out, struct err *err)
{
    AUTO(buf_release) struct buf other = {.max = REPORT_BYTES_MAX};
    bool html = req->format == REPORT_HTML;
    return sweep_report_render_both(req, html ? &other : out, html ? out : &other, err);
}

static void print_table(const struct sweep_model *m, side_table *fill, struct screen screen, struct buf *out)
{
    size_t sides[SWEEP_TABLE_SIDES], n;
    for (size_t part = 0; (n = sweep_table_sides(m, part, sides)) > 0; part++) {
        AUTO(table_release) struct table t = {0};
        fill(&t, m, sides, n, REPORT_EN);
        buf_putc(out, '\n');
        table_write_text(&t, screen, out);
    }
}

/* A screenful; the report has all. */
static void print_facts(struct sweep_model *m, struct screen screen, struct buf *out)
{
    size_t all = m->n_facts;
    m->n_facts = all > FACTS_SHOWN ? FACTS_SHOWN : all;
    print_table(m, table_sweep_facts, screen, out);
    if (all > m->n_facts) {
        message_plain(out, REPORT_EN, MSG_SWEEP_MORE_FACTS, num_int((int64_t)(all - m->n_facts)).s);
        buf_putc(out, '\n');
    }
    m->n_facts = all;
}

int sweep_report_terminal(const struct sweep_request *req, struct screen screen, struct buf *out,
                          struct err *err)
{
    AUTO(sweep_model_release) struct sweep_model m = {0};
    AUTO(table_release) struct table t = {0};
    if (sweep_model_load(&m, req->store, req->sweep, req->nodes, req->n_nodes, err) != 0)
        return -1;
    table_sweep_nodes(&t, &m, REPORT_EN);
    table_write_text(&t, screen, out);
    if (m.n_cells > 0)
        print_table(&m, table_sweep_cells, screen, out);
    if (count_measured(&m) > 1 && m.n_facts > 0)
        print_facts(&m, screen, out);
    return 0;
}
