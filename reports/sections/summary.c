/* The executive summary, for readers who read nothing else. Every line follows from a verdict, a factor or a
 * status in the tables below it. */
#include "reports/sections/summary.h"
#include "common/base/alloc.h"
#include "common/contract/test_variable.h"
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"
#include "reports/words/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SUMMARY_FINDINGS_MAX = 8 };

/* Skipped and cancelled cells did not fail; separate lines give their reasons. */
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

static bool any_ok(const struct run_data *run)
{
    for (size_t i = 0; i < run->n_tests; i++)
        if (run->tests[i].status == STATUS_OK)
            return true;
    return false;
}

static const char *base_name(const struct report_model *m)
{
    return *m->base.name ? m->base.name : m->against->base.info.run_id;
}

static int worse(const struct comparison *c)
{
    return c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_BROKEN] + c->verdicts[VERDICT_MISSING];
}

static int worse_cards(const struct comparison *c)
{
    int n = 0;
    for (size_t i = 0; i < c->cards.count; i++)
        n += c->cards.items[i].worse;
    return n;
}

/* Inconclusive cells must not be reported as free of regressions. */
static enum msg outcome_of(const struct comparison *c)
{
    int all = 0;
    bool since_nights = *c->base_id && !c->shift.since_base;
    for (int v = 0; v < VERDICT_COUNT; v++)
        all += c->verdicts[v];
    if (worse(c))
        return MSG_OUTCOME_REGRESSION;
    if (c->node_cells)
        return MSG_OUTCOME_NODE;
    if (worse_cards(c) && !comparison_shift_regressed(c))
        return metric_is_speed(c->primary) ? MSG_OUTCOME_CARD : MSG_OUTCOME_CARD_WORSE;
    if (comparison_regressed(c) && (c->shift.from_controls || c->shift.confirmed == SHIFT_NODE))
        return since_nights ? MSG_OUTCOME_NODE_NIGHTS : MSG_OUTCOME_NODE;
    if (comparison_regressed(c)) /* all cells together */
        return since_nights ? MSG_OUTCOME_SHIFT_NIGHTS : MSG_OUTCOME_SHIFT;
    if (c->verdicts[VERDICT_FAILING])
        return MSG_OUTCOME_FAILING;
    if (c->verdicts[VERDICT_SUSPECTED])
        return MSG_OUTCOME_SUSPECTED;
    if (c->verdicts[VERDICT_NEW] == all)
        return MSG_OUTCOME_NEW;
    if (c->verdicts[VERDICT_NOISY] == 0)
        return MSG_OUTCOME_NO_REGRESSION;
    return c->verdicts[VERDICT_NOISY] + c->verdicts[VERDICT_NEW] == all ? MSG_OUTCOME_INCONCLUSIVE
                                                                        : MSG_OUTCOME_PART_INCONCLUSIVE;
}

static struct num cells_of(const struct comparison *c, enum verdict v, enum report_lang lang)
{
    return phrase_count(lang, c->verdicts[v], MSG_CELLS_ONE, MSG_CELLS_MANY);
}

/* Writes the first line if there is a comparison: the outcome in bold, the base, and the number of cells. */
static void outcome_of_comparison(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf counts = {.max = PHRASE_MAX};
    verdict_counts(m->comparison, w->lang, &counts);
    md_say(w, outcome_of(m->comparison), num_int(worse_cards(m->comparison)).s,
           num_int((int64_t)m->n_cards).s, shift_cells(&m->comparison->shift, w->lang),
           message(w->lang, metric_is_speed(m->comparison->primary) ? MSG_SLOWER : MSG_WORSE),
           cells_of(m->comparison, VERDICT_FAILING, w->lang).s,
           cells_of(m->comparison, VERDICT_SUSPECTED, w->lang).s);
    if (m->against->has_base)
        md_say(w, MSG_AGAINST_RUN, base_name(m), m->against->base.info.date, buf_str(&counts));
    else
        md_say(w, MSG_AGAINST_NIGHTS, num_int((int64_t)m->against->history.nights).s, buf_str(&counts));
}

static void incomplete(const struct report_model *m, struct md *w)
{
    md_bullet(w);
    md_say(w, MSG_OUTCOME_INCOMPLETE, run_status_name(m->now.info.status));
    if (*m->reason)
        md_say(w, MSG_OUTCOME_REASON, m->reason);
    md_line(w);
}

static void rejected(const struct report_model *m, struct md *w)
{
    md_bullet(w);
    md_say(w, MSG_OUTCOME_REJECTED);
    md_say(w, MSG_OUTCOME_REASON, m->now.info.rejected);
    md_line(w);
}

static enum msg why_not_compared(const struct report_model *m)
{
    if (m->base.is_now)
        return MSG_OUTCOME_BASELINE;
    if (m->base.is_first)
        return MSG_OUTCOME_FIRST;
    return m->against->history.nights ? MSG_OUTCOME_NOT_COMPARED : MSG_OUTCOME_NO_NIGHT;
}

static void not_compared(const struct report_model *m, struct md *w)
{
    md_say(w, why_not_compared(m), num_int((int64_t)m->against->history.nights).s,
           num_int((int64_t)m->against->options.history_min).s);
    if (m->base.unset)
        md_say(w, MSG_OUTCOME_BASELINE_UNSET, m->base.unset, m->now.info.node, m->now.info.run_id);
}

static void outcome(const struct report_model *m, struct md *w)
{
    if (*m->now.info.rejected)
        rejected(m, w);
    if (m->now.info.status != RUN_COMPLETE)
        incomplete(m, w);
    md_bullet(w);
    if (!any_ok(&m->now) && failed_cells(&m->now) == 0)
        md_say(w, MSG_OUTCOME_NOTHING);
    else if (m->has_comparison)
        outcome_of_comparison(m, w);
    else if (failed_cells(&m->now))
        md_say(w, MSG_OUTCOME_FAILURES, num_int(failed_cells(&m->now)).s, num_int((int64_t)m->now.n_cells).s);
    else
        not_compared(m, w);
    md_line(w);
}

static void tests(const struct report_model *m, struct md *w)
{
    const struct run_info *i = &m->now.info;
    if (m->now.n_tests == 0) {
        md_item(w, MSG_SUMMARY_NO_TEST, i->node, i->date);
        return;
    }
    AUTO(buf_release) struct buf contexts = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf lacking = {.max = PHRASE_MAX};
    phrase_contexts(&contexts, w->lang, &m->now);
    struct num ok = num_int(i->counts.ok), total = num_int(i->counts.total),
               failed = num_int(i->counts.failed), skipped = num_int(i->counts.skipped);
    message_plain(&where, w->lang, strpbrk(buf_str(&contexts), ", ") ? MSG_CONTEXT_LIST : MSG_CONTEXT_ONE,
                  buf_str(&contexts));
    int without = i->counts.total - i->counts.ok - i->counts.failed - i->counts.skipped;
    if (without > 0)
        message_plain(&lacking, w->lang, MSG_SUMMARY_WITHOUT_RESULT, num_int(without).s);
    if (contexts.len)
        md_item(w, MSG_SUMMARY_RUN, buf_str(&where), i->node, i->date, ok.s, total.s, failed.s, skipped.s,
                buf_str(&lacking));
    else
        md_item(w, MSG_SUMMARY_RUN_PLAIN, i->node, i->date, ok.s, total.s, failed.s, skipped.s,
                buf_str(&lacking));
}

/* Whether the value was compared with anything but the base as it was measured. */
static bool expects(const struct delta *d)
{
    return d->estimate.method == METHOD_NIGHTS || fabs(verdict_reference(d) / d->base.median - 1) > 0.0005;
}

static struct num before_text(const struct delta *d)
{
    return metric_beside(d->metric, verdict_reference(d), d->now.median);
}

static struct num now_text(const struct delta *d)
{
    return metric_beside(d->metric, d->now.median, verdict_reference(d));
}

static void change(const struct delta *d, const char *evidence, struct md *w)
{
    AUTO(buf_release) struct buf change = {.max = PHRASE_MAX};
    phrase_ratio(&change, w->lang, d->metric, delta_size(d));
    md_say(w,
           delta_is_remeasured(d) ? MSG_FINDING_CONFIRMED
           : expects(d)           ? MSG_FINDING_EXPECTED
                                  : MSG_FINDING_CHANGE,
           d->variant, phrase_at(w->lang, d->context).s, verdict_word(d->verdict, w->lang), buf_str(&change),
           before_text(d).s, now_text(d).s, evidence, num_change(d->estimate.ratio - 1).s);
}

/* Left out where it would only say that the finding is of this run. */
static void opened(const struct report_model *m, const struct delta *d, struct md *w)
{
    const struct opening *o = openings_of(&m->comparison->openings, d->variant, d->context);
    struct opening_words words;
    if (!o)
        return;
    opening_words(o, w->lang, &words);
    const char *tonight = *m->now.info.started_at ? m->now.info.started_at : m->now.info.date;
    if (words.message == MSG_OPENED && strncmp(tonight, words.date.s, strlen(words.date.s)) == 0)
        return;
    md_say(w, d->verdict == VERDICT_IMPROVED ? MSG_FINDING_BETTER : MSG_FINDING_OPEN);
    md_say(w, words.message, words.date.s, words.commit.s, words.subject, words.range);
    md_say(w, MSG_SENTENCE_END);
}

static void finding(const struct report_model *m, const struct delta *d, struct md *w)
{
    AUTO(buf_release) struct buf evidence = {.max = PHRASE_MAX};
    verdict_evidence(d, w->lang, &evidence);
    struct num context = phrase_at(w->lang, d->context);
    md_bullet(w);
    if (d->estimate.method == METHOD_NONE)
        md_say(w, MSG_FINDING_STATUS, d->variant, context.s, verdict_word(d->verdict, w->lang),
               buf_str(&evidence));
    else if (delta_by_ranks(d))
        md_say(w, MSG_FINDING_ZERO, d->variant, context.s, verdict_word(d->verdict, w->lang),
               before_text(d).s, now_text(d).s, buf_str(&evidence));
    else
        change(d, buf_str(&evidence), w);
    opened(m, d, w);
    md_line(w);
}

static void suspect(const struct report_model *m, const struct delta *d, struct md *w)
{
    (void)m;
    AUTO(buf_release) struct buf change = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf settles = {.max = PHRASE_MAX};
    phrase_ratio(&change, w->lang, d->metric, d->estimate.ratio);
    verdict_settles(d, w->lang, &settles);
    md_item(w, MSG_SUMMARY_SUSPECT, d->variant, phrase_at(w->lang, d->context).s, buf_str(&change),
            before_text(d).s, now_text(d).s, buf_str(&settles));
}

static void gone(const struct report_model *m, const struct delta *d, struct md *w)
{
    (void)m;
    md_item(w, MSG_SUMMARY_GONE, d->variant, phrase_at(w->lang, d->context).s, num_date(d->stand.gone).s);
}

static void accepted(const struct report_model *m, const struct delta *d, struct md *w)
{
    (void)m;
    md_item(w, MSG_SUMMARY_ACCEPTED, d->variant, phrase_at(w->lang, d->context).s, d->accepted->who,
            num_date(d->accepted->accepted_at).s, d->accepted->reason);
}

static void nested(const char *text, struct md *w)
{
    if (!*text)
        return;
    buf_puts(w->out, "  ");
    md_bullet(w);
    md_text(w, text);
    md_line(w);
}

static void tickets(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = PHRASE_MAX};
    if (m->comparison)
        verdict_tickets(m->comparison, w->lang, &text);
    nested(buf_str(&text), w);
}

static void shift(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = PHRASE_MAX};
    if (m->comparison && (m->comparison->shift.found || m->comparison->shift.device_changed ||
                          m->comparison->shift.accepted || verdict_uneven_cells(m->comparison)))
        verdict_shift(m->comparison, w->lang, &text);
    nested(buf_str(&text), w);
}

static void commits(const struct commit_range *r, enum msg sentence, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = PHRASE_MAX};
    range_phrase(r, w->lang, &text);
    if (text.len)
        md_item(w, sentence, buf_str(&text));
}

static bool is_suspected(const struct delta *d)
{
    return d->verdict == VERDICT_SUSPECTED && d->reason != REASON_UNEVEN; /* that is told of the night */
}

static bool is_finding(const struct delta *d)
{
    return report_finding_matters(d) && d->verdict != VERDICT_SUSPECTED;
}

static bool is_gone(const struct delta *d)
{
    return d->stand.gone && !verdict_is_slower(d->verdict);
}

static bool is_accepted(const struct delta *d)
{
    return d->accepted;
}

/* The worst cells of a kind. */
static void list(const struct report_model *m, bool (*wanted)(const struct delta *),
                 void (*write)(const struct report_model *, const struct delta *, struct md *),
                 const char *indent, struct md *w)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_findings; i++) {
        if (!wanted(m->findings[i]) || n++ >= SUMMARY_FINDINGS_MAX)
            continue;
        buf_puts(w->out, indent);
        write(m, m->findings[i], w);
    }
    if (n > SUMMARY_FINDINGS_MAX) {
        buf_puts(w->out, indent);
        md_item(w, MSG_FINDINGS_MORE, num_int((int64_t)(n - SUMMARY_FINDINGS_MAX)).s);
    }
}

static void findings(const struct report_model *m, struct md *w)
{
    tickets(m, w);
    shift(m, w);
    if (m->comparison)
        cards_items(m->comparison, "  ", w);
    list(m, is_finding, finding, "  ", w);
    int suspects = m->comparison
                       ? m->comparison->verdicts[VERDICT_SUSPECTED] - (int)verdict_uneven_cells(m->comparison)
                       : 0;
    if (suspects > 0)
        md_item(w, MSG_SUMMARY_SUSPECTS, phrase_count(w->lang, suspects, MSG_CELLS_ONE, MSG_CELLS_MANY).s);
    list(m, is_suspected, suspect, "  ", w);
    list(m, is_gone, gone, "", w);
    list(m, is_accepted, accepted, "", w);
}

/* Says how long a test ran before it was stopped, if no other reason is known. */
static void stopped_after(const struct report_model *m, const struct cell *c, struct md *w)
{
    double wall = c->count ? m->now.tests[c->first].value[METRIC_WALL_S] : (double)NAN;
    if (insight_unstable(c->status) && isfinite(wall))
        md_say(w, MSG_AFTER_TIME, num_duration(wall).s);
}

static void broken_group(const struct report_model *m, const struct cell_group *g, struct md *w)
{
    const struct cell *c = g->cells[0];
    AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
    const struct run_gate *gate = insight_failed_gate(m, c->variant);
    phrase_at_cells(&where, w->lang, g->cells, g->count);
    md_bullet(w);
    if (gate)
        md_say(w, MSG_SUMMARY_GATE, m->now.variants[c->variant].name, gate->name, gate->reason);
    if (gate && c->status == STATUS_SKIPPED) {
        md_say(w, MSG_SUMMARY_NOT_TIMED, buf_str(&where));
        md_line(w);
        return;
    }
    md_say(w, MSG_SUMMARY_NOT_OK, m->now.variants[c->variant].name, buf_str(&where), cell_status(c).s);
    if (c->reason && *c->reason)
        md_say(w, MSG_BECAUSE, c->reason);
    else
        stopped_after(m, c, w);
    md_line(w);
}

static void broken_cells(const struct report_model *m, struct md *w)
{
    struct cell_group *groups;
    size_t n = insight_not_ok(&m->now, &groups), left = 0;
    for (size_t i = 0; i < n; i++)
        if (i < SUMMARY_FINDINGS_MAX)
            broken_group(m, &groups[i], w);
        else
            left += groups[i].count;
    if (left)
        md_item(w, MSG_FINDINGS_MORE, num_int((int64_t)left).s);
    insight_groups_release(groups, n);
}

static bool has_cell(const struct run_data *run, size_t variant)
{
    for (size_t i = 0; i < run->n_cells; i++)
        if (run->cells[i].variant == variant)
            return true;
    return false;
}

/* Variants that a build or a gate stopped before any test of theirs was listed: no cell tells of them. */
static void stopped_variants(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (m->now.variants[v].status != STATUS_OK && !has_cell(&m->now, v))
            phrase_stopped_variant(&m->now.variants[v], w);
}

/* The part of a fact's key behind its start, or NULL. */
static const char *behind(const char *key, const char *start)
{
    size_t len = strlen(start);
    return strncmp(key, start, len) == 0 ? key + len : NULL;
}

static bool plan_sets(const struct run_data *run, const char *name)
{
    char key[RUN_FACT_MAX];
    snprintf(key, sizeof key, "env.%.200s", name);
    return run_data_fact(run, key) != NULL;
}

/* A debug run is meant to be slow. */
static void slowing_variables(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_facts && strcmp(m->now.info.mode, "perf") == 0; i++) {
        const struct run_fact *f = &m->now.facts[i];
        const char *planned = behind(f->key, "env."), *of_login = behind(f->key, "login.");
        if (of_login && plan_sets(&m->now, of_login))
            continue;
        if ((planned || of_login) && test_variable_slows(planned ? planned : of_login, f->value))
            md_item(w, planned ? MSG_SUMMARY_SLOWING_PLAN : MSG_SUMMARY_SLOWING_LOGIN,
                    planned ? planned : of_login, f->value);
    }
}

void section_summary(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_SUMMARY);
    outcome(m, w);
    findings(m, w);
    commits(&m->base.commits, m->against->has_base ? MSG_SUMMARY_COMMITS : MSG_SUMMARY_COMMITS_NIGHT, w);
    commits(&m->base.commits_of_night, MSG_SUMMARY_COMMITS_NIGHT, w);
    slowing_variables(m, w);
    summary_variants(m, w);
    broken_cells(m, w);
    stopped_variants(m, w);
    tests(m, w);
    md_end(w);
}
