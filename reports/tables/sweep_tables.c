#include "reports/tables/sweep_tables.h"

#include "common/base/alloc.h"
#include "reports/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *node_of(const struct sweep_model *m, size_t side)
{
    return side < m->n_sides ? m->sides[side].node : NUM_NONE;
}

static void add_titles(struct table *t, const struct sweep_model *m, enum report_lang lang)
{
    AUTO(buf_release) struct buf vs = {.max = RUN_NODE_MAX + 64};
    message_plain(&vs, lang, MSG_COL_VS_NODE, node_of(m, m->reference));
    table_texts(t, lang, MSG_COL_NODE, MSG_COL_RUN, MSG_COL_STATUS);
    table_numbers(t, lang, MSG_COL_TESTS, MSG_COL_DURATION);
    table_column(t, buf_str(&vs), true);
    table_numbers(t, lang, MSG_COL_RANGE);
    table_texts(t, lang, MSG_COL_REASON);
}

static enum cell_mark mark_of(enum run_status s)
{
    switch (s) {
    case RUN_COMPLETE:
        return MARK_GOOD;
    case RUN_PARTIAL:
    case RUN_CANCELLED:
        return MARK_WARN;
    case RUN_BLOCKED:
        return MARK_BAD;
    case RUN_STATUS_COUNT:
        break;
    }
    return MARK_NONE;
}

/* A node without a run was blocked if the reason is known; otherwise its results are not stored yet. */
static void add_absent(struct table *t, const struct sweep_side *s)
{
    table_text(t, NUM_NONE);
    if (*s->failure)
        table_marked(t, run_status_name(RUN_BLOCKED), MARK_BAD);
    else
        table_text(t, NUM_NONE);
    for (int i = 0; i < 4; i++)
        table_text(t, NUM_NONE);
    if (*s->failure)
        table_code(t, s->failure);
    else
        table_text(t, NUM_NONE);
}

static void add_side(struct table *t, const struct sweep_side *s, enum report_lang lang)
{
    char tests[48];
    AUTO(buf_release) struct buf range = {.max = 96};
    const struct run_info *r = &s->run.info;
    snprintf(tests, sizeof tests, "%d/%d", r->counts.ok, r->counts.total);
    message_plain(&range, lang, MSG_RANGE, num_factor(s->low).s, num_factor(s->high).s);
    table_code(t, r->run_id);
    table_marked(t, run_status_name(r->status), mark_of(r->status));
    table_text(t, tests);
    table_text(t, num_duration(r->wall_s).s);
    table_text(t, s->cells ? num_factor(s->ratio).s : NUM_NONE);
    table_text(t, s->cells ? buf_str(&range) : NUM_NONE);
    if (*s->failure)
        table_code(t, s->failure);
    else
        table_text(t, NUM_NONE);
}

void table_sweep_nodes(struct table *t, const struct sweep_model *m, enum report_lang lang)
{
    add_titles(t, m, lang);
    for (size_t i = 0; i < m->n_sides; i++) {
        table_code(t, m->sides[i].node);
        if (m->sides[i].has_run)
            add_side(t, &m->sides[i], lang);
        else
            add_absent(t, &m->sides[i]);
    }
    table_drop_empty(t, 5);
}

size_t sweep_table_sides(const struct sweep_model *m, size_t part, size_t *sides)
{
    size_t n = 0, skip = part * (SWEEP_TABLE_SIDES - 1), others = 0;
    if (m->reference == m->n_sides)
        return 0;
    sides[n++] = m->reference;
    for (size_t i = 0; i < m->n_sides && n < SWEEP_TABLE_SIDES; i++)
        if (i != m->reference && m->sides[i].measured && others++ >= skip)
            sides[n++] = i;
    return n > 1 || part == 0 ? n : 0;
}

static void add_value(struct table *t, const struct sweep_model *m, size_t side, const struct sweep_cell *c)
{
    char text[3 * NUM_TEXT_MAX];
    const struct cell *own = sweep_model_cell(m, side, c);
    struct sweep_ratio r = sweep_model_ratio(m, side, c);
    if (!own)
        table_text(t, NUM_NONE);
    else if (isnan(r.value))
        table_marked(t, cell_status(own).s, own->status == STATUS_OK ? MARK_NONE : MARK_BAD);
    else if (isnan(r.ratio))
        table_text(t, quantity_text(&m->primary, r.value).s);
    else {
        snprintf(text, sizeof text, "%s (%s)", quantity_text(&m->primary, r.value).s,
                 num_factor_error(r.ratio, r.error).s);
        table_text(t, text);
    }
}

void table_sweep_cells(struct table *t, const struct sweep_model *m, const size_t *sides, size_t n,
                       enum report_lang lang)
{
    char title[RUN_NODE_MAX + 64];
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT);
    for (size_t i = 0; i < n; i++) {
        snprintf(title, sizeof title, i == 0 ? "%s, %s" : "%s", node_of(m, sides[i]),
                 quantity_title(&m->primary, lang));
        table_column(t, title, true);
    }
    for (size_t c = 0; c < m->n_cells; c++) {
        table_text(t, m->cells[c].context ? num_int(m->cells[c].context).s : NUM_NONE);
        table_code(t, m->cells[c].variant);
        for (size_t i = 0; i < n; i++)
            add_value(t, m, sides[i], &m->cells[c]);
    }
}

void table_sweep_facts(struct table *t, const struct sweep_model *m, const size_t *sides, size_t n,
                       enum report_lang lang)
{
    table_texts(t, lang, MSG_COL_FACT);
    for (size_t i = 0; i < n; i++)
        table_column(t, node_of(m, sides[i]), false);
    for (size_t f = 0; f < m->n_facts; f++) {
        table_code(t, m->facts[f].key);
        for (size_t i = 0; i < n; i++)
            if (*m->facts[f].value[sides[i]])
                table_code(t, m->facts[f].value[sides[i]]);
            else
                table_text(t, NUM_NONE);
    }
}
