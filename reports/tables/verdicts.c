#include "reports/tables/tables.h"
#include "results/judge/confirm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *verdict_word(enum verdict v, enum report_lang lang)
{
    static const enum msg words[VERDICT_COUNT] = {
        [VERDICT_IMPROVED] = MSG_VERDICT_IMPROVED,
        [VERDICT_REGRESSED] = MSG_VERDICT_REGRESSED,
        [VERDICT_UNCHANGED] = MSG_VERDICT_UNCHANGED,
        [VERDICT_NOISY] = MSG_VERDICT_NOISY,
        [VERDICT_NEW] = MSG_VERDICT_NEW,
        [VERDICT_MISSING] = MSG_VERDICT_MISSING,
        [VERDICT_BROKEN] = MSG_VERDICT_BROKEN,
        [VERDICT_FIXED] = MSG_VERDICT_FIXED,
    };
    return message(lang, words[v]);
}

void verdict_counts(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    for (enum verdict v = 0; v < VERDICT_COUNT; v++) {
        if (!c->verdicts[v])
            continue;
        buf_puts(out, out->len ? ", " : "");
        message_plain(out, lang, MSG_COUNTED, num_int(c->verdicts[v]).s, verdict_word(v, lang));
    }
}

void verdict_tickets(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    if (comparison_of_two_tickets(c))
        message_plain(out, lang, MSG_OTHER_TICKET, c->base_ticket, c->now_ticket);
}

/* A smaller factor is not worth a word in the evidence of a cell. */
static const double factor_shown = 0.005;
/* A base that differs by less from what was expected is what was expected. */
static const double expected_shown = 0.0005;

static enum cell_mark verdict_mark(enum verdict v)
{
    switch (v) {
    case VERDICT_REGRESSED:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
        return MARK_BAD;
    case VERDICT_IMPROVED:
    case VERDICT_FIXED:
        return MARK_GOOD;
    case VERDICT_NOISY:
    case VERDICT_NEW:
        return MARK_WARN;
    case VERDICT_UNCHANGED:
    case VERDICT_COUNT:
        break;
    }
    return MARK_NONE;
}

/* One message of three: for two runs, for nights, and within a run. */
static enum msg message_for(const struct delta *d, enum msg runs, enum msg nights, enum msg within)
{
    if (d->within_run)
        return within;
    return d->by_nights ? nights : runs;
}

/* Why there is no ratio to judge. */
static void evidence_of_absence(const struct delta *d, enum report_lang lang, struct buf *out)
{
    bool within = d->within_run, both_ok = d->base_status == STATUS_OK && d->now_status == STATUS_OK;
    if (!d->in_base)
        message_plain(out, lang,
                      message_for(d, MSG_EVIDENCE_NEW, MSG_EVIDENCE_NEW_NIGHTS, MSG_EVIDENCE_NEW_WITHIN),
                      status_name(d->now_status));
    else if (!d->in_now)
        message_plain(
            out, lang,
            message_for(d, MSG_EVIDENCE_MISSING, MSG_EVIDENCE_MISSING_NIGHTS, MSG_EVIDENCE_MISSING_WITHIN),
            status_name(d->base_status));
    else if (d->apart)
        message_plain(out, lang, MSG_EVIDENCE_APART);
    else if (!within && d->now_status == STATUS_OK && d->now_n == 0)
        message_plain(out, lang, MSG_EVIDENCE_LOST, metric_info(d->metric)->name);
    else if (both_ok && d->history_n > 0)
        message_plain(out, lang, MSG_EVIDENCE_YOUNG, num_int(d->history_n).s);
    else if (!within && both_ok && d->base_n == 0)
        message_plain(out, lang, MSG_EVIDENCE_GAINED, metric_info(d->metric)->name);
    else
        message_plain(
            out, lang,
            message_for(d, MSG_EVIDENCE_STATUS, MSG_EVIDENCE_STATUS_NIGHTS, MSG_EVIDENCE_STATUS_WITHIN),
            status_name(d->base_status), status_name(d->now_status));
}

/* What t is against, which of the scales bounds it, and what was removed. */
static void evidence_of_nights(const struct delta *d, enum report_lang lang, struct buf *out)
{
    static const enum msg against[REFERENCE_COUNT] = {
        [REFERENCE_NONE] = MSG_EVIDENCE_AGAINST_LEVEL,
        [REFERENCE_RUN] = MSG_EVIDENCE_AGAINST_RUN,
        [REFERENCE_LEVEL] = MSG_EVIDENCE_AGAINST_LEVEL,
        [REFERENCE_BASE] = MSG_EVIDENCE_AGAINST_BASE,
    };
    static const enum msg floors[FLOOR_COUNT] = {
        [FLOOR_NIGHTS] = MSG_EVIDENCE_FLOOR_NIGHTS,
        [FLOOR_WITHIN] = MSG_EVIDENCE_FLOOR_WITHIN,
        [FLOOR_QUANTUM] = MSG_EVIDENCE_FLOOR_QUANTUM,
    };
    message_plain(out, lang, MSG_EVIDENCE_T, num_fixed(d->z, 1).s, num_fixed(d->freedom, 0).s);
    bool one = d->against == REFERENCE_BASE && d->reference_n == 1;
    message_plain(out, lang, one ? MSG_EVIDENCE_AGAINST_NIGHT : against[d->against],
                  num_int(d->reference_n).s, metric_with_unit(d->metric, d->reference).s);
    if (fabs(d->common - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_COMMON, num_fixed(d->common, 3).s);
    if (fabs(d->own - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_OWN, num_fixed(d->own, 3).s);
    message_plain(out, lang, floors[d->floor], num_percent(d->noise_floor).s);
    message_plain(out, lang, MSG_EVIDENCE_LIMIT, num_percent(d->threshold).s);
    if (d->control)
        message_plain(out, lang, MSG_EVIDENCE_CONTROL);
}

/* On which GPUs, and beside what. */
static void evidence_of_places(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->other_device) {
        buf_puts(out, "; ");
        message_plain(out, lang, MSG_EVIDENCE_OTHER_GPU);
    }
    if (d->gpus > 1)
        message_plain(out, lang, MSG_EVIDENCE_GPUS, num_int((int64_t)d->gpus).s,
                      num_int((int64_t)d->gpus_worse).s, num_int((int64_t)d->gpus_better).s);
    if (d->beside >= 0 && d->base_beside >= 0 && d->beside != d->base_beside)
        message_plain(out, lang, MSG_EVIDENCE_BESIDE, num_int(d->beside).s, num_int(d->base_beside).s);
}

static void evidence_of_method(const struct delta *d, enum report_lang lang, struct buf *out)
{
    struct num base_n = num_int(d->base_n), now_n = num_int(d->now_n), limit = num_percent(d->threshold);
    switch (d->method) {
    case METHOD_NONE:
    case METHOD_COUNT:
        evidence_of_absence(d, lang, out);
        return;
    case METHOD_EXACT:
        message_plain(out, lang, MSG_EVIDENCE_EXACT);
        return;
    case METHOD_THRESHOLD:
        message_plain(out, lang, MSG_EVIDENCE_THRESHOLD, base_n.s, now_n.s, limit.s);
        return;
    case METHOD_MANN_WHITNEY:
        if (delta_by_ranks(d)) {
            message_plain(out, lang, MSG_EVIDENCE_RANKS, base_n.s, now_n.s, num_p(d->p).s,
                          num_p(d->p_adjusted).s);
            return;
        }
        message_plain(out, lang, MSG_EVIDENCE_MANN_WHITNEY, base_n.s, now_n.s, num_p(d->p).s,
                      num_p(d->p_adjusted).s, limit.s);
        return;
    case METHOD_BOOTSTRAP:
        message_plain(out, lang, MSG_EVIDENCE_BOOTSTRAP, base_n.s, now_n.s, num_fixed(d->ratio_low, 3).s,
                      num_fixed(d->ratio_high, 3).s, limit.s);
        return;
    case METHOD_NIGHTS:
        evidence_of_nights(d, lang, out);
        return;
    }
}

/* By what the base was multiplied, if two runs were compared alone. */
static void evidence_of_factors(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (fabs(d->common - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_COMMON_RUNS, num_fixed(d->common, 3).s);
    if (fabs(d->own - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_OWN_RUNS, num_fixed(d->own, 3).s);
}

static bool claims_change(const struct delta *d)
{
    return d->verdict == VERDICT_IMPROVED || d->verdict == VERDICT_REGRESSED;
}

static void evidence_add(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->against == REFERENCE_RUN && d->method != METHOD_NIGHTS)
        evidence_of_factors(d, lang, out);
    if (d->negligible)
        message_plain(out, lang, MSG_EVIDENCE_NEGLIGIBLE, metric_least(d->metric).s);
    if (d->stayed)
        message_plain(out, lang, MSG_EVIDENCE_STAYED, num_change(delta_measured(d) - 1).s);
    if (d->disputed)
        message_plain(out, lang, MSG_EVIDENCE_DISAGREE);
    if (isfinite(d->between_runs))
        message_plain(out, lang, MSG_EVIDENCE_SPREAD, num_percent(d->between_runs).s);
    if (isfinite(d->noise_floor) && d->method != METHOD_NIGHTS)
        message_plain(out, lang, MSG_EVIDENCE_NOISE, num_percent(d->noise_floor).s);
    if (isfinite(d->detectable) && d->method != METHOD_THRESHOLD && !claims_change(d))
        message_plain(out, lang, MSG_EVIDENCE_DETECTABLE, num_percent(d->detectable).s);
    if (d->in_base && d->in_now)
        evidence_of_places(d, lang, out);
    if (d->outlier)
        message_plain(out, lang, MSG_EVIDENCE_OUTLIER);
    if (d->slow_first)
        message_plain(out, lang, MSG_EVIDENCE_SLOW_FIRST);
}

/* The outcome of measuring both builds again, alternately. */
static void evidence_of_confirmation(const struct delta *d, enum report_lang lang, struct buf *out)
{
    switch (confirm_outcome(d)) {
    case CONFIRM_STANDS:
        message_plain(out, lang, MSG_EVIDENCE_STANDS);
        return;
    case CONFIRM_REFUTED:
        message_plain(out, lang, MSG_EVIDENCE_REFUTED);
        return;
    case CONFIRM_NODE:
        message_plain(out, lang, MSG_EVIDENCE_NODE);
        return;
    case CONFIRM_UNDECIDED:
        message_plain(out, lang, confirm_exceeds_base(d) ? MSG_EVIDENCE_OLDER_BASE : MSG_EVIDENCE_UNDECIDED);
        return;
    case CONFIRM_NOT_ASKED:
    case CONFIRM_COUNT:
        return;
    }
}

/* Both sides have a value, but at least one of them none that a ratio could be made of. */
static bool lacks_ratio(const struct delta *d)
{
    return d->method != METHOD_NONE && d->method != METHOD_EXACT && isnan(d->ratio) && !d->negligible &&
           !delta_by_ranks(d);
}

void verdict_evidence(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (lacks_ratio(d)) {
        message_plain(out, lang, d->verdict == VERDICT_UNCHANGED ? MSG_EVIDENCE_ZERO : MSG_EVIDENCE_NO_RATIO);
        return;
    }
    evidence_of_method(d, lang, out);
    evidence_of_confirmation(d, lang, out);
    if (d->method != METHOD_NONE)
        evidence_add(d, lang, out);
}

double verdict_reference(const struct delta *d)
{
    return isfinite(d->reference) ? d->reference : d->base_median;
}

/* With several metrics, each number includes its unit. */
static struct num one_side(const struct quantity *primary, enum metric m, bool several, double v)
{
    return several ? metric_with_unit(m, v) : quantity_text(primary, v);
}

/* Which columns a comparison needs. */
struct sides {
    bool several;  /* metrics */
    bool base;     /* there is a base, else only nights */
    bool expected; /* something else than the base was expected */
};

static struct sides sides_of(const struct comparison *c)
{
    struct sides s = {0};
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        bool same = d->reference == d->base_median || /* both may be 0 */
                    fabs(d->reference / d->base_median - 1) <= expected_shown;
        s.several |= d->metric != c->primary;
        s.base |= isfinite(d->base_median);
        s.expected |= isfinite(d->reference) && !same;
    }
    s.base |= !s.expected;
    return s;
}

static void comparison_row(struct table *t, const struct delta *d, const struct quantity *primary,
                           const struct sides *sides, enum report_lang lang)
{
    struct buf evidence;
    buf_init(&evidence, 1024);
    verdict_evidence(d, lang, &evidence);
    table_text(t, d->context ? num_int(d->context).s : NUM_NONE);
    table_code(t, d->variant);
    if (sides->several)
        table_code(t, metric_info(d->metric)->name);
    if (sides->base)
        table_text(t, one_side(primary, d->metric, sides->several, d->base_median).s);
    if (sides->expected)
        table_text(t, one_side(primary, d->metric, sides->several, d->reference).s);
    table_text(t, one_side(primary, d->metric, sides->several, d->now_median).s);
    table_text(t, num_factor(d->factor).s);
    table_text(t, num_change(d->ratio - 1).s);
    table_marked(t, verdict_word(d->verdict, lang), verdict_mark(d->verdict));
    table_text(t, buf_str(&evidence));
    t->failed |= !buf_ok(&evidence);
    buf_release(&evidence);
}

/* "Base (ms)"; without a unit if each value includes its own. */
static void side_column(struct table *t, enum msg id, const char *unit, enum report_lang lang)
{
    char title[64];
    if (*unit)
        snprintf(title, sizeof title, "%s (%s)", message(lang, id), unit);
    else
        snprintf(title, sizeof title, "%s", message(lang, id));
    table_column(t, title, true);
}

void table_comparison(struct table *t, const struct comparison *c, const struct quantity *primary,
                      enum report_lang lang)
{
    const struct sides sides = sides_of(c);
    const char *unit = sides.several ? "" : primary->unit;
    table_column(t, message(lang, MSG_COL_CONTEXT), true);
    table_column(t, message(lang, MSG_COL_VARIANT), false);
    if (sides.several)
        table_column(t, message(lang, MSG_COL_METRIC), false);
    if (sides.base)
        side_column(t, MSG_COL_BASE_SIDE, unit, lang);
    if (sides.expected)
        side_column(t, MSG_COL_EXPECTED, unit, lang);
    side_column(t, MSG_COL_NOW_SIDE, unit, lang);
    table_column(t, message(lang, sides.expected ? MSG_COL_VS_EXPECTED : MSG_COL_VS_BASE), true);
    table_column(t, message(lang, MSG_COL_CHANGE), true);
    table_column(t, message(lang, MSG_COL_VERDICT), false);
    table_column(t, message(lang, MSG_COL_EVIDENCE), false);
    for (size_t i = 0; i < c->count; i++)
        comparison_row(t, &c->deltas[i], primary, &sides, lang);
    if (!primary->prompt)
        table_drop_empty(t, 0);
}

/* A SHA-256 by its first digits, as commands print it; anything else as it is. */
static void add_fact_value(struct table *t, const char *value)
{
    enum { SHOWN = 12 };
    char hash[SHOWN + 1];
    bool is_hash = strlen(value) == SHA256_HEX_LEN && strspn(value, "0123456789abcdef") == SHA256_HEX_LEN;
    snprintf(hash, sizeof hash, "%.*s", SHOWN, value);
    table_code(t, is_hash ? hash : value);
}

void table_facts(struct table *t, const struct comparison *c, enum report_lang lang)
{
    table_column(t, message(lang, MSG_COL_FACT), false);
    table_column(t, message(lang, MSG_COL_BASE_SIDE), false);
    table_column(t, message(lang, MSG_COL_NOW_SIDE), false);
    for (size_t i = 0; i < c->n_facts; i++) {
        table_code(t, c->facts[i].key);
        add_fact_value(t, c->facts[i].base);
        add_fact_value(t, c->facts[i].now);
    }
}
