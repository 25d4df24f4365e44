/* Instability: signs that the node or a kernel is unreliable, with the evidence. */
#include "reports/model/activity.h"
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"
#include "results/judge/work.h"

static void stops(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_tests; i++) {
        const struct run_test *t = &m->now.tests[i];
        if (!insight_unstable(t->status))
            continue;
        md_bullet(w);
        md_say(w, MSG_CELL, m->now.variants[t->variant].name, phrase_at(w->lang, t->context).s);
        if (t->repetition) /* B3.89 bundles number single tests 0 */
            md_say(w, MSG_UNSTABLE_REPETITION, num_int(t->repetition).s);
        md_say(w, MSG_UNSTABLE_TEST, status_name(t->status), num_duration(t->value[METRIC_WALL_S]).s);
        if (*t->reason)
            md_say(w, MSG_BECAUSE, t->reason);
        md_line(w);
    }
}

static void dirty_node(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->memory.count; i++) {
        const struct memory_row *r = &m->memory.cells[i];
        if (!r->kept)
            continue;
        md_item(w, MSG_UNSTABLE_MEMORY, m->now.variants[r->cell->variant].name,
                phrase_at(w->lang, r->cell->context).s, num_bytes(r->vram_before).s,
                num_bytes(r->vram_after).s);
    }
}

static void disturbed(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        const struct cell_activity a = activity_of_cell(&m->now, c);
        const char *name = m->now.variants[c->variant].name;
        if (a.throttled > 0)
            md_item(w, MSG_UNSTABLE_THROTTLED, name, phrase_at(w->lang, c->context).s, num_int(a.throttled).s,
                    num_int(c->ok).s, num_seconds(a.throttled_s).s, a.throttle);
        if (a.neighbours > 0)
            md_item(w, a.neighbours > 1 ? MSG_UNSTABLE_NEIGHBOURS : MSG_UNSTABLE_NEIGHBOUR, name,
                    phrase_at(w->lang, c->context).s, num_int(a.neighbours).s);
    }
}

static void scattered(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        struct cell_spread s = insight_spread(&m->now, c, m->primary.metric);
        if (!(s.relative > SPREAD_LIMIT))
            continue;
        md_item(w, MSG_UNSTABLE_SPREAD, m->now.variants[c->variant].name, phrase_at(w->lang, c->context).s,
                num_int(s.n).s, metric_beside(m->primary.metric, s.low, s.high).s,
                metric_with_unit(m->primary.metric, s.high).s, num_percent(s.relative).s);
    }
}

static void several_shapes(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (work_varies(&m->now, c))
            md_item(w, MSG_UNSTABLE_SHAPES, m->now.variants[c->variant].name,
                    phrase_at(w->lang, c->context).s);
    }
}

static void odd_values(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->n_findings; i++) {
        const struct delta *d = m->findings[i];
        if (!d->doubts.outlier && !d->doubts.slow_first)
            continue;
        md_item(w, d->doubts.outlier ? MSG_UNSTABLE_OUTLIER : MSG_UNSTABLE_SLOW_FIRST, d->variant,
                phrase_at(w->lang, d->context).s);
    }
}

void section_instability(const struct report_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 2, MSG_H_INSTABILITY);
    stops(m, w);
    disturbed(m, w);
    dirty_node(m, w);
    several_shapes(m, w);
    scattered(m, w);
    odd_values(m, w);
    if (md_part_end(w, &part)) {
        md_end(w);
        md_para(w, MSG_UNSTABLE_NOTE, num_percent(SPREAD_LIMIT).s);
    }
}
