/* Next steps: each follows from a rule that the sentence states, and from numbers of this report. */
#include "reports/insight.h"
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>

/* Repetitions a side that the interval of a ratio needs. */
enum { REPETITIONS_WANTED = 5, CELLS_NAMED_MAX = 6 };

static void slow_variants(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        struct standing_range s = insight_standing(m, v);
        if (v != m->reference && s.contexts > 0 && s.slow == s.contexts)
            md_item(w, MSG_STEP_DISABLE, m->now.variants[v].name, report_model_reference(m),
                    num_int(s.contexts).s, num_factor(s.high).s);
    }
}

static void fastest_variant(const struct report_model *m, struct md *w)
{
    size_t v;
    if (insight_fastest(m, &v))
        md_item(w, MSG_STEP_FOCUS, m->now.variants[v].name);
}

static void spills(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        double bytes = insight_scratch(m, v);
        if (bytes > 0)
            md_item(w, MSG_STEP_SPILL, m->now.variants[v].name, num_fixed(bytes, 0).s);
    }
}

static void held_by_lds(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        for (size_t i = 0; i < m->resources[v].count; i++) {
            const struct kernel_resources *k = &m->resources[v].kernels[i];
            if (k->has_occupancy && k->occupancy.limit == LIMIT_LDS && k->occupancy.waves < WAVES_TO_HIDE)
                md_item(w, MSG_STEP_LDS, m->now.variants[v].name, num_fixed(k->use.lds, 0).s,
                        num_fixed(k->occupancy.waves, 0).s, num_fixed(k->use.threads, 0).s);
        }
}

/* Older layouts say nothing of the node: that nothing differs is then no finding. */
static bool facts_recorded(const struct report_model *m)
{
    const struct against *a = &m->against;
    return m->now.n_facts && (!a->has_base || a->base.n_facts);
}

/* Cells whose regression measuring in turns laid at the node's door. */
static int of_the_node(const struct comparison *c)
{
    int n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += c->deltas[i].verdict == VERDICT_REGRESSED && c->deltas[i].confirmation == CONFIRM_NODE;
    return n;
}

static void regressions(const struct report_model *m, struct md *w)
{
    const struct comparison *c = &m->comparison;
    int of_sources = c->verdicts[VERDICT_REGRESSED] - of_the_node(c);
    if (!c->verdicts[VERDICT_REGRESSED])
        return;
    if (!facts_recorded(m))
        md_item(w, MSG_STEP_UNRECORDED, num_int(c->verdicts[VERDICT_REGRESSED]).s);
    else if (c->n_facts)
        md_item(w, MSG_STEP_SAME_NODE, num_int(c->verdicts[VERDICT_REGRESSED]).s,
                num_int((int64_t)c->n_facts).s);
    else if (of_sources > 0)
        md_item(w, MSG_STEP_BISECT, num_int(of_sources).s);
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
        md_item(w, MSG_STEP_REPEAT, num_int(weak).s, num_int(REPETITIONS_WANTED).s);
}

static void scattered(const struct report_model *m, struct md *w)
{
    int named = 0, left = 0;
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (!(insight_spread(&m->now, c, m->metric).relative > SPREAD_LIMIT))
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
        md_say(w, MSG_CELL, m->now.variants[c->variant].name, num_int(c->context).s);
    }
    if (left)
        md_say(w, MSG_AND_MORE, num_int(left).s);
    if (named)
        md_line(w);
}

static void steps_of_scaling(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        const struct scaling_row *row = insight_worst_step(s);
        if (row)
            md_item(w, MSG_STEP_PROFILE, m->now.variants[s->variant].name, num_int((row - 1)->context).s,
                    num_int(row->context).s, num_growth(row->step).s, num_growth(row->step_expected).s);
    }
}

static void failures(const struct report_model *m, struct md *w)
{
    int named = 0;
    for (size_t i = 0; i < m->now.n_cells && named < CELLS_NAMED_MAX; i++) {
        const struct cell *c = &m->now.cells[i];
        if (c->status == STATUS_OK || c->status == STATUS_SKIPPED)
            continue;
        md_item(w, c->status == STATUS_TIMEOUT ? MSG_STEP_TIMEOUT : MSG_STEP_FAILURE,
                m->now.variants[c->variant].name, num_int(c->context).s, status_name(c->status));
        named++;
    }
}

static void missing(const struct report_model *m, struct md *w)
{
    int n = m->comparison.verdicts[VERDICT_MISSING];
    if (n)
        md_item(w, MSG_STEP_MISSING, num_int(n).s);
}

void section_next_steps(const struct report_model *m, struct md *w)
{
    size_t start = w->out->len;
    md_heading(w, 2, MSG_H_NEXT_STEPS);
    size_t empty = w->out->len;
    regressions(m, w);
    missing(m, w);
    failures(m, w);
    slow_variants(m, w);
    fastest_variant(m, w);
    spills(m, w);
    held_by_lds(m, w);
    steps_of_scaling(m, w);
    scattered(m, w);
    repetitions(m, w);
    if (w->out->len == empty)
        md_truncate(w, start);
    md_end(w);
}
