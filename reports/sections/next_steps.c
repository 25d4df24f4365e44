/* Next steps: each follows from a rule that the sentence states, and from numbers of this report. */
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

/* Repetitions a side that the interval of a ratio needs. */
enum { REPETITIONS_WANTED = 5, CELLS_NAMED_MAX = 6 };

/* Being the fastest of one is no finding. */
static bool others_measured(const struct report_model *m, size_t variant)
{
    for (size_t i = 0; i < m->now.n_cells; i++)
        if (m->now.cells[i].variant != variant && isfinite(m->now.cells[i].median[m->primary.metric]))
            return true;
    return false;
}

static void serialised(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->n_kernels; i++) {
        struct launch_growth g = launch_growth(m->launches, m->n_kernels, i);
        if (g.largest && g.serialised && g.grid_known)
            md_item(w, MSG_STEP_GRID, m->launches[i].kernel, num_growth(g.work).s, num_growth(g.actual).s);
    }
}

static void slow_variants(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        struct standing_range s = insight_standing(m, v, m->reference);
        struct buf where;
        if (!report_model_first(m, v) || s.contexts == 0 || s.slow < s.contexts)
            continue;
        buf_init(&where, PHRASE_MAX);
        phrase_where(&where, w->lang, s.contexts, s.context, *m->now.variants[v].shape);
        md_item(w, MSG_STEP_DISABLE, report_model_variant(m, v), report_model_reference(m), buf_str(&where),
                num_factor(s.high).s);
        buf_release(&where);
    }
}

static void fastest_variant(const struct report_model *m, struct md *w)
{
    size_t v;
    if (insight_fastest(m, &v) && others_measured(m, v))
        md_item(w, MSG_STEP_FOCUS, report_model_variant(m, v));
}

/* One line a kernel, however many shapes and templates of it there are: the one that spills most. */
static void spills(const struct report_model *m, struct md *w)
{
    bool nvidia = resources_nvidia(m->resources, m->now.n_variants);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        double bytes = 0;
        if (!report_model_first(m, v))
            continue;
        for (size_t i = v; i < m->now.n_variants; i++)
            if (report_model_same(m, i, v))
                bytes = fmax(bytes, insight_scratch(m, i));
        if (bytes > 0)
            md_item(w, nvidia ? MSG_STEP_SPILL_NVIDIA : MSG_STEP_SPILL, report_model_variant(m, v),
                    num_fixed(bytes, 0).s);
    }
}

/* Of a variant's kernels the one that LDS leaves the fewest waves; NULL when it holds none back. */
static const struct kernel_resources *held_most(const struct variant_resources *r)
{
    const struct kernel_resources *most = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct kernel_resources *k = &r->kernels[i];
        if (k->has_occupancy && k->occupancy.limit == LIMIT_LDS && k->occupancy.waves < WAVES_TO_HIDE &&
            (!most || k->occupancy.waves < most->occupancy.waves))
            most = k;
    }
    return most;
}

static void held_by_lds(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct kernel_resources *k = held_most(&m->resources[v]);
        if (k)
            md_item(w, resources_nvidia(&m->resources[v], 1) ? MSG_STEP_SHARED : MSG_STEP_LDS,
                    report_model_variant(m, v), num_fixed(k->use.lds, 0).s,
                    phrase_waves(w->lang, k->occupancy.waves, resources_nvidia(&m->resources[v], 1)).s,
                    num_fixed(k->use.threads, 0).s);
    }
}

/* Older layouts say nothing of the node: that nothing differs is then no finding. */
static bool facts_recorded(const struct report_model *m)
{
    const struct against *a = m->against;
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

/* A line for all contexts at which a variant ended alike. */
static void failure(const struct report_model *m, const struct cell_group *g, struct md *w)
{
    const struct cell *c = g->cells[0];
    struct buf contexts, where;
    enum msg id = c->status == STATUS_TIMEOUT     ? MSG_STEP_TIMEOUT
                  : c->status == STATUS_CANCELLED ? MSG_STEP_CANCELLED
                                                  : MSG_STEP_FAILURE;
    buf_init(&contexts, PHRASE_MAX);
    buf_init(&where, PHRASE_MAX);
    phrase_cells(&contexts, w->lang, g->cells, g->count);
    if (g->count > 1 || c->context > 0)
        message_plain(&where, w->lang, MSG_AT_CONTEXT, buf_str(&contexts));
    md_item(w, id, m->now.variants[c->variant].name, buf_str(&where), status_name(c->status));
    buf_release(&contexts);
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
    serialised(m, w);
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
