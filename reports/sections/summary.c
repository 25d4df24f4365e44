/* The executive summary: what a reader must know who reads nothing else. Every line rests on a verdict, a
 * factor or a status of the tables below it. */
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

enum { SUMMARY_FINDINGS_MAX = 8 };

/* What was skipped or cancelled did not fail: it has a line of its own with the reason. */
static bool failed(const struct cell *c)
{
    return c->status != STATUS_OK && c->status != STATUS_SKIPPED && c->status != STATUS_CANCELLED;
}

static int failed_cells(const struct run_data *run)
{
    int n = 0;
    for (size_t i = 0; i < run->n_cells; i++)
        n += failed(&run->cells[i]);
    return n;
}

static const char *base_name(const struct report_model *m)
{
    return *m->baseline ? m->baseline : m->against->base.info.run_id;
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
        if (m->comparison->verdicts[v])
            buf_printf(&counts, "%s%s %d", counts.len ? ", " : "", verdict_word(v, w->lang),
                       m->comparison->verdicts[v]);
    md_say(w, worse(m->comparison) ? MSG_OUTCOME_REGRESSION : MSG_OUTCOME_NO_REGRESSION);
    if (m->against->has_base)
        md_say(w, MSG_AGAINST_RUN, base_name(m), m->against->base.info.date, buf_str(&counts));
    else
        md_say(w, MSG_AGAINST_NIGHTS, num_int((int64_t)m->against->history.nights).s, buf_str(&counts));
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
    struct buf contexts, where;
    const struct run_info *i = &m->now.info;
    buf_init(&contexts, PHRASE_MAX);
    buf_init(&where, PHRASE_MAX);
    phrase_contexts(&contexts, w->lang, &m->now);
    struct num ok = num_int(i->counts.ok), total = num_int(i->counts.total),
               failed = num_int(i->counts.failed), skipped = num_int(i->counts.skipped);
    message_plain(&where, w->lang, strpbrk(buf_str(&contexts), ", ") ? MSG_CONTEXT_LIST : MSG_CONTEXT_ONE,
                  buf_str(&contexts));
    if (contexts.len)
        md_item(w, MSG_SUMMARY_RUN, buf_str(&where), i->node, i->date, ok.s, total.s, failed.s, skipped.s);
    else
        md_item(w, MSG_SUMMARY_RUN_PLAIN, i->node, i->date, ok.s, total.s, failed.s, skipped.s);
    buf_release(&contexts);
    buf_release(&where);
}

static void finding(const struct delta *d, struct md *w)
{
    struct buf change, evidence;
    buf_init(&change, PHRASE_MAX);
    buf_init(&evidence, PHRASE_MAX);
    phrase_ratio(&change, w->lang, d->ratio);
    verdict_evidence(d, w->lang, &evidence);
    struct num context = phrase_at(w->lang, d->context);
    if (d->method == METHOD_NONE)
        md_item(w, MSG_FINDING_STATUS, d->variant, context.s, verdict_word(d->verdict, w->lang),
                buf_str(&evidence));
    else
        md_item(w, MSG_FINDING_CHANGE, d->variant, context.s, verdict_word(d->verdict, w->lang),
                buf_str(&change), metric_with_unit(d->metric, verdict_reference(d)).s,
                metric_with_unit(d->metric, d->now_median).s, buf_str(&evidence));
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

static void count_at(struct buf *out, enum report_lang lang, enum msg id, int n)
{
    if (n && out->len)
        buf_puts(out, ", ");
    if (n)
        message_plain(out, lang, id, num_int(n).s);
}

static void mixed(const struct report_model *m, size_t variant, size_t other, const struct standing_range *s,
                  const char *factors, struct md *w)
{
    struct buf counts;
    buf_init(&counts, PHRASE_MAX);
    count_at(&counts, w->lang, MSG_FASTER_AT, s->fast);
    count_at(&counts, w->lang, MSG_SAME_AT, s->contexts - s->fast - s->slow);
    count_at(&counts, w->lang, MSG_SLOWER_AT, s->slow);
    md_item(w, *m->now.variants[variant].shape ? MSG_VARIANT_MIXED_SHAPES : MSG_VARIANT_MIXED,
            report_model_variant(m, variant), report_model_variant(m, other), factors, buf_str(&counts),
            num_int(s->contexts).s);
    buf_release(&counts);
}

static void standing(const struct report_model *m, size_t variant, size_t other, struct md *w)
{
    struct standing_range s = insight_standing(m, variant, other);
    const char *name = report_model_variant(m, variant), *reference = report_model_variant(m, other);
    struct buf factors, times, where;
    if (s.contexts == 0)
        return;
    buf_init(&factors, PHRASE_MAX);
    buf_init(&times, PHRASE_MAX);
    buf_init(&where, PHRASE_MAX);
    range(&factors, w->lang, num_factor(s.low), num_factor(s.high));
    range(&times, w->lang, num_times(1 / s.high), num_times(1 / s.low));
    phrase_where(&where, w->lang, s.contexts, s.context, *m->now.variants[variant].shape);
    if (s.slow == s.contexts)
        md_item(w, MSG_VARIANT_SLOWER, name, reference, buf_str(&where), buf_str(&times), buf_str(&factors));
    else if (s.fast == s.contexts)
        md_item(w, MSG_VARIANT_FASTER, name, reference, buf_str(&where), buf_str(&factors));
    else if (s.fast + s.slow == 0)
        md_item(w, MSG_VARIANT_SAME, name, reference, buf_str(&where), buf_str(&factors));
    else
        mixed(m, variant, other, &s, buf_str(&factors), w);
    buf_release(&factors);
    buf_release(&times);
    buf_release(&where);
}

/* A variant is also what its author has made of the one before: said while they are few. */
static void earlier_pairs(const struct report_model *m, struct md *w)
{
    size_t first[INSIGHT_PAIRS_OF_MAX], n = insight_others(m, first, INSIGHT_PAIRS_OF_MAX);
    for (size_t i = 1; n <= INSIGHT_PAIRS_OF_MAX && i < n; i++)
        standing(m, first[i], first[i - 1], w);
}

/* One line a kernel and length: its largest launch. */
static void serialised(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->n_kernels; i++) {
        struct launch_growth g = launch_growth(m->launches, m->n_kernels, i);
        if (g.largest && g.serialised)
            md_item(w, MSG_SUMMARY_SERIALISED, m->launches[i].kernel, num_growth(g.work).s,
                    num_growth(g.actual).s, num_fixed(m->launches[i].units, 0).s);
    }
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

/* How long a test ran before it was stopped, where nothing else says why. */
static void stopped_after(const struct report_model *m, const struct cell *c, struct md *w)
{
    double wall = c->count ? m->now.tests[c->first].value[METRIC_WALL_S] : (double)NAN;
    if (insight_unstable(c->status) && isfinite(wall))
        md_say(w, MSG_AFTER_TIME, num_duration(wall).s);
}

static void broken_group(const struct report_model *m, const struct cell_group *g, struct md *w)
{
    const struct cell *c = g->cells[0];
    struct buf contexts, where;
    buf_init(&contexts, PHRASE_MAX);
    buf_init(&where, PHRASE_MAX);
    phrase_cells(&contexts, w->lang, g->cells, g->count);
    if (g->count > 1 || c->context > 0)
        message_plain(&where, w->lang, MSG_AT_CONTEXT, buf_str(&contexts));
    md_bullet(w);
    md_say(w, MSG_SUMMARY_NOT_OK, m->now.variants[c->variant].name, buf_str(&where), cell_status(c).s);
    if (c->reason && *c->reason)
        md_say(w, MSG_BECAUSE, c->reason);
    else
        stopped_after(m, c, w);
    md_line(w);
    buf_release(&contexts);
    buf_release(&where);
}

static void broken_cells(const struct report_model *m, struct md *w)
{
    struct cell_group *groups;
    size_t n, left = 0;
    w->out->failed |= insight_not_ok(&m->now, &groups, &n) != 0;
    for (size_t i = 0; i < n; i++)
        if (i < SUMMARY_FINDINGS_MAX)
            broken_group(m, &groups[i], w);
        else
            left += groups[i].count;
    if (left)
        md_item(w, MSG_FINDINGS_MORE, num_int((int64_t)left).s);
    insight_groups_release(groups, n);
}

void section_summary(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_SUMMARY);
    outcome(m, w);
    findings(m, w);
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (report_model_first(m, v))
            standing(m, v, m->reference, w);
    earlier_pairs(m, w);
    serialised(m, w);
    growth(m, w);
    broken_cells(m, w);
    tests(m, w);
    md_end(w);
}
