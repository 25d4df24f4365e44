/* Next steps: each follows from a rule, which its sentence states, and from numbers in this report. */
#include "reports/sections/next_steps.h"
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/model/lead.h"
#include "reports/sections/phrase.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

/* Repetitions per run that an interval of the ratio requires. */
enum { REPETITIONS_WANTED = 5, CELLS_NAMED_MAX = 6 };

static struct num cells_text(enum report_lang lang, int n)
{
    return phrase_count(lang, n, MSG_CELLS_ONE, MSG_CELLS_MANY);
}

/* Neither other nights nor more repetitions would make such a verdict conclusive. */
static bool needs_something_else(const struct delta *d)
{
    return d->doubts.other_device || d->reason == REASON_STAYED;
}

static bool nights_vary(const struct delta *d)
{
    if (needs_something_else(d) || d->reason == REASON_DISAGREE)
        return false;
    return d->verdict == VERDICT_NOISY && d->estimate.method == METHOD_NIGHTS &&
           d->estimate.floor == FLOOR_NIGHTS && !lead_is_settled(d);
}

/* Few repetitions are the reason only where the spread within a run decides. */
static bool too_few(const struct delta *d)
{
    bool few = d->base.n < REPETITIONS_WANTED || d->now.n < REPETITIONS_WANTED;
    if (!few || needs_something_else(d) || d->estimate.method == METHOD_NONE ||
        !isfinite(d->estimate.ratio) || nights_vary(d) || lead_is_settled(d))
        return false;
    return d->verdict == VERDICT_NOISY ||
           (d->estimate.method == METHOD_THRESHOLD && d->verdict != VERDICT_UNCHANGED);
}

static void repetitions(const struct report_model *m, struct md *w)
{
    int weak = 0, vary = 0, moved = 0;
    for (size_t i = 0; i < m->n_findings; i++) {
        const struct delta *d = m->findings[i];
        weak += too_few(d);
        vary += nights_vary(d);
        moved += d->doubts.other_device && d->verdict == VERDICT_NOISY;
    }
    if (moved)
        md_item(w, MSG_STEP_MOVED, cells_text(w->lang, moved).s);
    if (vary)
        md_item(w, vary == 1 ? MSG_STEP_VARIES : MSG_STEP_VARY, cells_text(w->lang, vary).s);
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

/* Imported runs have no logs. */
static enum msg fix_step(const struct report_model *m)
{
    return strcmp(m->now.info.origin, "import") == 0 ? MSG_STEP_FAILURE_BARE : MSG_STEP_FAILURE;
}

static bool is_stopped(const struct report_model *m, size_t variant)
{
    return m->now.variants[variant].status != STATUS_OK || insight_failed_gate(m, variant);
}

/* Variants that a build or a gate stopped, whether or not their tests are listed as skipped. */
static size_t stopped(const struct report_model *m, struct md *w)
{
    size_t named = 0;
    for (size_t v = 0; v < m->now.n_variants && named < CELLS_NAMED_MAX; v++) {
        const struct run_gate *gate = insight_failed_gate(m, v);
        if (!is_stopped(m, v))
            continue;
        named++;
        if (gate)
            md_item(w, MSG_STEP_GATE, m->now.variants[v].name, gate->name, gate->reason);
        else
            md_item(w, fix_step(m), m->now.variants[v].name, "", status_name(m->now.variants[v].status));
    }
    return named;
}

static enum msg step_for(const struct report_model *m, enum status s, bool busy)
{
    if (s == STATUS_TIMEOUT)
        return busy ? MSG_STEP_TIMEOUT : MSG_STEP_UNKNOWN;
    return fix_step(m);
}

/* Writes one line for all contexts at which a variant has the same status and reason. */
static void failure(const struct report_model *m, const struct cell_group *g, struct md *w)
{
    const struct cell *c = g->cells[0];
    const char *variant = m->now.variants[c->variant].name;
    double idle_s;
    enum waiting waiting = insight_waiting(&m->now, c, &idle_s);
    AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
    phrase_at_cells(&where, w->lang, g->cells, g->count);
    if (waiting == WAITING_IDLE)
        md_item(w, MSG_STEP_IDLE, variant, buf_str(&where), num_seconds(idle_s).s);
    else
        md_item(w, step_for(m, c->status, waiting == WAITING_BUSY), variant, buf_str(&where),
                status_name(c->status));
}

/* The end of the run, not a fault of its own, kept such a test from its result. */
static bool was_cut_short(const struct report_model *m, enum status s)
{
    return s == STATUS_CANCELLED || (s == STATUS_INTERRUPTED && m->now.info.status != RUN_COMPLETE);
}

static void failures(const struct report_model *m, struct md *w)
{
    struct cell_group *groups;
    size_t n = insight_not_ok(&m->now, &groups), named = stopped(m, w);
    for (size_t i = 0; i < n && named < CELLS_NAMED_MAX; i++) {
        const struct cell *c = groups[i].cells[0];
        if (c->status == STATUS_SKIPPED || was_cut_short(m, c->status) || is_stopped(m, c->variant))
            continue;
        failure(m, &groups[i], w);
        named++;
    }
    insight_groups_release(groups, n);
}

static void unfinished(const struct report_model *m, struct md *w)
{
    const struct run_info *r = &m->now.info;
    int without = r->counts.total - (int)m->now.n_tests;
    bool goes_on = r->status == RUN_PARTIAL && !*r->ended_at && strcmp(r->origin, "bundle") == 0;
    for (size_t i = 0; i < m->now.n_tests; i++)
        without += was_cut_short(m, m->now.tests[i].status);
    if (without > 0)
        md_item(w, goes_on ? MSG_STEP_ATTACH : MSG_STEP_AGAIN, num_int(without).s, num_int(r->counts.total).s,
                r->run_id);
}

static void missing(const struct report_model *m, struct md *w)
{
    int n = m->comparison->verdicts[VERDICT_MISSING];
    if (n)
        md_item(w, MSG_STEP_MISSING, cells_text(w->lang, n).s);
}

void section_next_steps(const struct report_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 2, MSG_H_NEXT_STEPS);
    unfinished(m, w);
    next_steps_causes(m, w);
    missing(m, w);
    failures(m, w);
    next_steps_kernels(m, w);
    scattered(m, w);
    repetitions(m, w);
    md_part_end(w, &part);
    md_end(w);
}
