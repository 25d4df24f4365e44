/* Next steps: each follows from a rule, which its sentence states, and from numbers in this report. */
#include "reports/sections/next_steps.h"
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

/* Repetitions per run that an interval of the ratio requires. */
enum { REPETITIONS_WANTED = 5, CELLS_NAMED_MAX = 6 };

/* B3.89 bundles record nothing about the node, so equal facts would prove nothing. */
static bool facts_recorded(const struct report_model *m)
{
    const struct against *a = m->against;
    return m->now.n_facts && (!a->has_base || a->base.n_facts);
}

/* Regressed cells that the confirmation attributed to the node. */
static int of_the_node(const struct comparison *c)
{
    int n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += c->deltas[i].verdict == VERDICT_REGRESSED && c->deltas[i].confirmation == CONFIRM_NODE;
    return n;
}

static struct num cells_text(enum report_lang lang, int n)
{
    return phrase_count(lang, n, MSG_CELLS_ONE, MSG_CELLS_MANY);
}

static void regressions(const struct report_model *m, struct md *w)
{
    const struct comparison *c = m->comparison;
    int of_sources = c->verdicts[VERDICT_REGRESSED] - of_the_node(c);
    struct num cells = cells_text(w->lang, c->verdicts[VERDICT_REGRESSED]);
    if (!c->verdicts[VERDICT_REGRESSED])
        return;
    if (!facts_recorded(m))
        md_item(w, MSG_STEP_UNRECORDED, cells.s);
    else if (c->n_facts)
        md_item(w, MSG_STEP_SAME_NODE, cells.s,
                phrase_count(w->lang, (int)c->n_facts, MSG_FACTS_ONE, MSG_FACTS_MANY).s);
    else if (of_sources > 0)
        md_item(w, MSG_STEP_BISECT, cells_text(w->lang, of_sources).s);
}

static void repetitions(const struct report_model *m, struct md *w)
{
    int weak = 0;
    for (size_t i = 0; i < m->n_findings; i++) {
        const struct delta *d = m->findings[i];
        weak +=
            d->verdict == VERDICT_NOISY || (d->method == METHOD_THRESHOLD && d->verdict != VERDICT_UNCHANGED);
    }
    if (weak)
        md_item(w, MSG_STEP_REPEAT, cells_text(w->lang, weak).s, num_int(REPETITIONS_WANTED).s);
}

static void scattered(const struct report_model *m, struct md *w)
{
    int named = 0, left = 0;
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (!(insight_spread(&m->now, c, m->primary.metric).relative > SPREAD_LIMIT))
            continue;
        if (named == CELLS_NAMED_MAX) {
            left++;
            continue;
        }
        if (named++ == 0) {
            md_bullet(w);
            md_say(w, MSG_STEP_SCATTERED, num_percent(SPREAD_LIMIT).s);
        }
        buf_puts(w->out, named == 1 ? " " : ", ");
        md_say(w, MSG_CELL, m->now.variants[c->variant].name, phrase_at(w->lang, c->context).s);
    }
    if (left)
        md_say(w, MSG_AND_MORE, num_int(left).s);
    if (named)
        md_line(w);
}

static enum msg step_for(enum status s)
{
    if (s == STATUS_TIMEOUT)
        return MSG_STEP_TIMEOUT;
    return s == STATUS_CANCELLED ? MSG_STEP_CANCELLED : MSG_STEP_FAILURE;
}

/* One line for all contexts at which a variant has the same status and reason. */
static void failure(const struct report_model *m, const struct cell_group *g, struct md *w)
{
    const struct cell *c = g->cells[0];
    struct buf where;
    buf_init(&where, PHRASE_MAX);
    phrase_at_cells(&where, w->lang, g->cells, g->count);
    md_item(w, step_for(c->status), m->now.variants[c->variant].name, buf_str(&where),
            status_name(c->status));
    buf_release(&where);
}

static void failures(const struct report_model *m, struct md *w)
{
    struct cell_group *groups;
    size_t n, named = 0;
    w->out->failed |= insight_not_ok(&m->now, &groups, &n) != 0;
    for (size_t i = 0; i < n && named < CELLS_NAMED_MAX; i++) {
        if (groups[i].cells[0]->status == STATUS_SKIPPED)
            continue;
        failure(m, &groups[i], w);
        named++;
    }
    insight_groups_release(groups, n);
}

static void missing(const struct report_model *m, struct md *w)
{
    int n = m->comparison->verdicts[VERDICT_MISSING];
    if (n)
        md_item(w, MSG_STEP_MISSING, cells_text(w->lang, n).s);
}

void section_next_steps(const struct report_model *m, struct md *w)
{
    size_t start = w->out->len;
    md_heading(w, 2, MSG_H_NEXT_STEPS);
    size_t empty = w->out->len;
    regressions(m, w);
    missing(m, w);
    failures(m, w);
    next_steps_kernels(m, w);
    scattered(m, w);
    repetitions(m, w);
    if (w->out->len == empty)
        md_truncate(w, start);
    md_end(w);
}
