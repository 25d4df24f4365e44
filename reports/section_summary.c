/* The executive summary: what a reader must know who reads nothing else. Every line rests on a verdict, a
 * factor or a status of the tables below it. */
#include "reports/insight.h"
#include "reports/number.h"
#include "reports/phrase.h"
#include "reports/section.h"

#include <math.h>
#include <string.h>

enum { SUMMARY_FINDINGS_MAX = 8 };

/* A cell that was skipped did not fail: it has a line of its own with the reason. */
static int failed_cells(const struct run_data *run)
{
    int n = 0;
    for (size_t i = 0; i < run->n_cells; i++)
        n += run->cells[i].status != STATUS_OK && run->cells[i].status != STATUS_SKIPPED;
    return n;
}

static const char *base_name(const struct report_model *m)
{
    return *m->baseline ? m->baseline : m->against.base.info.run_id;
}

static int worse(const struct comparison *c)
{
    return c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_BROKEN] + c->verdicts[VERDICT_MISSING];
}

/* The first line when there is a comparison: the outcome in bold, against what, and how many cells. */
static void outcome_of_comparison(const struct report_model *m, struct md *w)
{
    struct buf counts;
    buf_init(&counts, PHRASE_MAX);
    for (enum verdict v = 0; v < VERDICT_COUNT; v++)
        if (m->comparison.verdicts[v])
            buf_printf(&counts, "%s%s %d", counts.len ? ", " : "", verdict_word(v, w->lang),
                       m->comparison.verdicts[v]);
    md_say(w, worse(&m->comparison) ? MSG_OUTCOME_REGRESSION : MSG_OUTCOME_NO_REGRESSION);
    if (m->against.has_base)
        md_say(w, MSG_AGAINST_RUN, base_name(m), m->against.base.info.date, buf_str(&counts));
    else
        md_say(w, MSG_AGAINST_NIGHTS, num_int((int64_t)m->against.history.nights).s, buf_str(&counts));
    buf_release(&counts);
}

static void outcome(const struct report_model *m, struct md *w)
{
    if (m->now.info.status != RUN_COMPLETE)
        md_item(w, MSG_OUTCOME_INCOMPLETE, run_status_name(m->now.info.status));
    md_bullet(w);
    if (m->has_comparison)
        outcome_of_comparison(m, w);
    else if (failed_cells(&m->now))
        md_say(w, MSG_OUTCOME_FAILURES, num_int(failed_cells(&m->now)).s, num_int((int64_t)m->now.n_cells).s);
    else
        md_say(w, MSG_OUTCOME_MEASURED);
    md_line(w);
}

static void tests(const struct report_model *m, struct md *w)
{
    struct buf contexts;
    const struct run_info *i = &m->now.info;
    buf_init(&contexts, PHRASE_MAX);
    phrase_contexts(&contexts, w->lang, &m->now);
    struct num ok = num_int(i->counts.ok), total = num_int(i->counts.total),
               failed = num_int(i->counts.failed), skipped = num_int(i->counts.skipped);
    if (contexts.len)
        md_item(w, MSG_SUMMARY_RUN, buf_str(&contexts), i->node, i->date, ok.s, total.s, failed.s, skipped.s);
    else
        md_item(w, MSG_SUMMARY_RUN_PLAIN, i->node, i->date, ok.s, total.s, failed.s, skipped.s);
    buf_release(&contexts);
}

static void finding(const struct delta *d, struct md *w)
{
    struct buf change, evidence;
    buf_init(&change, PHRASE_MAX);
    buf_init(&evidence, PHRASE_MAX);
    phrase_ratio(&change, w->lang, d->ratio);
    verdict_evidence(d, w->lang, &evidence);
    struct num context = num_int(d->context);
    if (d->method == METHOD_NONE)
        md_item(w, MSG_FINDING_STATUS, d->variant, context.s, verdict_word(d->verdict, w->lang),
                buf_str(&evidence));
    else
        md_item(w, MSG_FINDING_CHANGE, d->variant, context.s, verdict_word(d->verdict, w->lang),
                buf_str(&change), num_seconds(verdict_reference(d)).s, num_seconds(d->now_median).s,
                buf_str(&evidence));
    buf_release(&change);
    buf_release(&evidence);
}

static void findings(const struct report_model *m, struct md *w)
{
    size_t n = 0;
    while (n < m->n_findings && report_finding_matters(m->findings[n]))
        n++;
    for (size_t i = 0; i < n && i < SUMMARY_FINDINGS_MAX; i++) {
        buf_puts(w->out, "  ");
        finding(m->findings[i], w);
    }
    if (n > SUMMARY_FINDINGS_MAX) {
        buf_puts(w->out, "  ");
        md_item(w, MSG_FINDINGS_MORE, num_int((int64_t)(n - SUMMARY_FINDINGS_MAX)).s);
    }
}

static void range(struct buf *out, enum report_lang lang, struct num low, struct num high)
{
    if (strcmp(low.s, high.s) == 0)
        buf_puts(out, low.s);
    else
        message_plain(out, lang, MSG_RANGE, low.s, high.s);
}

static void against_reference(const struct report_model *m, size_t variant, struct md *w)
{
    struct standing_range s = insight_standing(m, variant);
    const char *name = m->now.variants[variant].name;
    struct buf factors, times;
    if (s.contexts == 0)
        return;
    buf_init(&factors, PHRASE_MAX);
    buf_init(&times, PHRASE_MAX);
    range(&factors, w->lang, num_factor(s.low), num_factor(s.high));
    range(&times, w->lang, num_fixed(1 / s.high, 2), num_fixed(1 / s.low, 2));
    if (s.slow == s.contexts)
        md_item(w, MSG_VARIANT_SLOWER, name, report_model_reference(m), buf_str(&factors), buf_str(&times));
    else if (s.fast == s.contexts)
        md_item(w, MSG_VARIANT_FASTER, name, report_model_reference(m), buf_str(&factors));
    else if (s.fast + s.slow == 0)
        md_item(w, MSG_VARIANT_SAME, name, report_model_reference(m), buf_str(&factors));
    else
        md_item(w, MSG_VARIANT_MIXED, name, report_model_reference(m), buf_str(&factors), num_int(s.fast).s,
                num_int(s.slow).s, num_int(s.contexts).s);
    buf_release(&factors);
    buf_release(&times);
}

static void growth(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        const struct scaling_row *row = insight_worst_step(s);
        if (!row)
            continue;
        md_item(w, MSG_SUMMARY_SCALING, m->now.variants[s->variant].name, num_int(row[-1].context).s,
                num_int(row->context).s, num_growth(row->step).s, num_growth(row->step_expected).s,
                num_fixed(s->exponent, 2).s);
    }
}

static void broken_cells(const struct report_model *m, struct md *w)
{
    int left = failed_cells(&m->now), shown = 0;
    for (size_t i = 0; i < m->now.n_cells && shown < SUMMARY_FINDINGS_MAX; i++) {
        const struct cell *c = &m->now.cells[i];
        if (c->status == STATUS_OK)
            continue;
        md_bullet(w);
        md_say(w, MSG_SUMMARY_NOT_OK, m->now.variants[c->variant].name, num_int(c->context).s,
               cell_status(c).s);
        if (c->reason && *c->reason)
            md_say(w, MSG_BECAUSE, c->reason);
        md_line(w);
        shown++;
    }
    if (left > shown)
        md_item(w, MSG_FINDINGS_MORE, num_int(left - shown).s);
}

void section_summary(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_SUMMARY);
    outcome(m, w);
    findings(m, w);
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (v != run_data_counterpart(&m->now, v, m->reference))
            against_reference(m, v, w);
    growth(m, w);
    broken_cells(m, w);
    tests(m, w);
    md_end(w);
}
