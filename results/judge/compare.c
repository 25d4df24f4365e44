#include "results/judge/compare.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/base/word.h"
#include "results/judge/compare_values.h"
#include "results/judge/judge.h"
#include "results/judge/tonight.h"
#include "results/judge/windows.h"
#include "results/judge/work.h"
#include "results/stats/stats.h"
#include "results/store/when.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparing {
    const struct run_data *base; /* may be NULL */
    const struct run_data *now;
    const struct history *history; /* may be NULL */
    const struct compare_options *o;
    struct comparison *out;
    size_t cap;             /* of out->deltas */
    struct tonight tonight; /* of the metric that is being compared */
    struct t_limit limit;   /* of the cells' intervals */
};

static struct delta *add_delta(struct comparing *c, const char *variant, int context, enum metric m)
{
    struct comparison *out = c->out;
    ALLOC_GROW(out->deltas, out->count + 1, c->cap);
    struct delta *d = &out->deltas[out->count++];
    *d = delta_of(variant, context, m);
    return d;
}

static void settle(struct delta *d, enum verdict v, enum reason_code reason)
{
    d->verdict = v;
    d->reason = reason;
}

/* A test that was stopped, or not begun, by no fault of its own. What is not built is. */
static bool was_prevented(enum status status, const struct run_variant *v)
{
    return status == STATUS_CANCELLED || status == STATUS_INTERRUPTED ||
           (status == STATUS_SKIPPED && v->status == STATUS_OK);
}

/* Whether nothing speaks against the cell but that some of its tests, or all, were not run to their end. */
static bool is_unmeasured(const struct run_data *r, const struct cell *c)
{
    if (c->status == STATUS_OK)
        return false;
    if (c->counted == 0)
        return was_prevented(c->status, &r->variants[c->variant]);
    for (size_t i = c->first; i < c->first + c->count; i++)
        if (!r->tests[i].warmup && r->tests[i].status != STATUS_OK &&
            !was_prevented(r->tests[i].status, &r->variants[c->variant]))
            return false;
    return true;
}

static int64_t begun(const struct run_info *run)
{
    int64_t at = when_parse(run->started_at);
    return at == WHEN_UNKNOWN ? when_midnight(run->date) : at;
}

/* The cell failed on the nights before, and fails now: that is no news, whatever it is compared with. */
static bool still_fails(const struct comparing *c, struct delta *d, const struct cell *now)
{
    for (size_t i = 0; i < c->o->n_failing; i++) {
        const struct failing_cell *f = &c->o->failing[i];
        if (f->context != d->context || strcmp(f->variant, d->variant) != 0 || is_unmeasured(c->now, now))
            continue;
        if (!c->base) {
            d->base.present = true;
            d->base.status = f->status;
        }
        d->stand.since = f->since;
        settle(d, VERDICT_FAILING, REASON_STATUS);
        return true;
    }
    return false;
}

/* Without a base: the history has only nights in which the cell was OK. */
static bool broke_since(const struct comparing *c, struct delta *d, const struct cell *now)
{
    if (now->status == STATUS_OK)
        return false;
    d->base.present = true;
    settle(d, is_unmeasured(c->now, now) ? VERDICT_MISSING : VERDICT_BROKEN, REASON_STATUS);
    return true;
}

/* The verdicts that follow from the status of both sides; false if the values have to decide. What was not
 * measured on one side says nothing of the other. */
static bool judge_states(const struct comparing *c, struct delta *d, const struct cell *base,
                         const struct cell *now)
{
    bool base_ok = base && base->status == STATUS_OK, now_ok = now && now->status == STATUS_OK;
    bool then = base && is_unmeasured(c->base, base), here = now && is_unmeasured(c->now, now);
    /* Two variants of one run that fail are no failure that lasts. */
    enum verdict failing = here || c->o->within_run ? VERDICT_UNCHANGED : VERDICT_FAILING;
    if (base && now && then != here)
        settle(d, here ? VERDICT_MISSING : VERDICT_NEW, REASON_STATUS);
    else if (!now)
        settle(d, VERDICT_MISSING, REASON_MISSING);
    else if (!base)
        settle(d, VERDICT_NEW, REASON_NEW);
    else if (base_ok && now_ok)
        return false;
    else
        settle(d, base_ok ? VERDICT_BROKEN : now_ok ? VERDICT_FIXED : failing, REASON_STATUS);
    if (d->verdict == VERDICT_FAILING)
        d->stand.since = begun(&c->base->info);
    return true;
}

/* Both sides are OK, and only one has the metric: a program that no longer prints it, or prints it now. */
static bool judge_lacking(struct delta *d)
{
    if ((d->base.n > 0) == (d->now.n > 0))
        return false;
    settle(d, d->base.n > 0 ? VERDICT_MISSING : VERDICT_NEW,
           d->base.n > 0 ? REASON_METRIC_LOST : REASON_METRIC_GAINED);
    return true;
}

static void set_side(const struct cell *c, enum metric m, struct delta_side *out)
{
    out->present = c;
    if (!c)
        return;
    out->status = c->status;
    out->n = c->n[m];
    out->median = c->median[m];
    out->failed = c->counted - c->ok;
    out->of = c->counted;
    char said[DELTA_SAID_MAX];
    text_printable_fixed(said, sizeof said, c->reason, strlen(c->reason));
    out->said = word(said);
}

static void set_sides(const struct comparing *c, struct delta *d, const struct cell *base,
                      const struct cell *now)
{
    set_side(base, d->metric, &d->base);
    set_side(now, d->metric, &d->now);
    d->compared = c->o->within_run ? COMPARED_VARIANTS : c->base ? COMPARED_RUNS : COMPARED_NIGHTS;
    d->doubts.otherwise = now && c->o->otherwise && c->o->otherwise[now->variant];
    snprintf(d->attn_impl, sizeof d->attn_impl, "%s", now ? now->attn_impl : base->attn_impl);
    d->estimate.threshold = c->o->regression;
}

/* Both sides have the metric, of different things. */
static bool judge_unlike(const struct comparing *c, struct delta *d, const struct cell *base,
                         const struct cell *now)
{
    bool other = c->o->within_run ? work_differs(c->base, base, c->now, now)
                                  : work_changed(c->base, base, c->now, now);
    enum reason_code why = other ? REASON_OTHER_WORK : windows_differ(d->metric, c->base, base, c->now, now);
    if (why)
        settle(d, VERDICT_NOISY, why);
    return why;
}

/* Against nights: the cell ran, and no longer has the metric that the night before had. */
static bool lost_metric(const struct comparing *c, struct delta *d, const struct night_cell *n)
{
    if (d->now.n > 0 || !nights_has_newest(&c->tonight.nights, n))
        return false;
    d->base.present = true;
    settle(d, VERDICT_MISSING, REASON_METRIC_LOST);
    return true;
}

/* base and now are not both NULL. */
static void compare_metric(struct comparing *c, const char *variant, int context, enum metric m,
                           const struct cell *base, const struct cell *now)
{
    struct delta *d = add_delta(c, variant, context, m);
    set_sides(c, d, base, now);
    const struct night_cell *nights = now ? nights_find_cell(&c->tonight.nights, variant, context) : NULL;
    bool from_nights = !c->base && nights;
    if (now && still_fails(c, d, now))
        return;
    bool settled = from_nights ? broke_since(c, d, now) || lost_metric(c, d, nights)
                               : judge_states(c, d, base, now) || judge_lacking(d);
    if (settled || judge_unlike(c, d, base, now))
        return;
    const struct comparing_cell cell = {.tonight = &c->tonight, .base = base, .now = now, .limit = &c->limit};
    d->base.present = base || from_nights;
    set_places(c->base, base, c->now, now, d);
    compare_cell_values(&cell, c->o, d);
}

static bool is_compared(const struct comparing *c, enum metric m, const struct cell *base,
                        const struct cell *now)
{
    if (m == c->out->primary)
        return true;
    if (!c->o->all_metrics || metric_info(m)->better == METRIC_UNDEFINED || !now ||
        now->status != STATUS_OK || now->n[m] == 0)
        return false;
    if (c->base)
        return base && base->status == STATUS_OK && base->n[m] > 0;
    return nights_find_cell(&c->tonight.nights, c->now->variants[now->variant].name, now->context);
}

static void compare_cell(struct comparing *c, enum metric m, const char *variant, int context,
                         const struct cell *base, const struct cell *now)
{
    if (is_compared(c, m, base, now))
        compare_metric(c, variant, context, m, base, now);
}

/* Whether the run was to measure the cell. Only a bundle says so; what an import was made from is unknown. */
static bool was_asked(const struct run_data *now, const char *variant, int context)
{
    if (strcmp(now->info.origin, "bundle") != 0)
        return true;
    for (size_t i = 0; i < now->n_unmeasured; i++)
        if (now->unmeasured[i].context == context && strcmp(now->unmeasured[i].variant, variant) == 0)
            return true;
    return false;
}

static void add_missing(struct comparing *c, const struct history_series *s)
{
    struct delta *d = add_delta(c, s->variant, s->context, s->metric);
    d->compared = COMPARED_NIGHTS;
    d->base.present = true;
    d->reference.history_n = (int)s->count;
    d->estimate.threshold = c->o->regression;
    settle(d, VERDICT_MISSING, REASON_MISSING);
}

/* Cells that the last night measured, and that this run was to measure and did not. */
static void add_missing_since_last_night(struct comparing *c, enum metric m)
{
    const struct nights *n = &c->tonight.nights;
    for (size_t k = 0; m == c->out->primary && k < n->n_cells; k++) {
        const struct night_cell *cell = &n->cells[k];
        const struct history_series *s = cell->series;
        if (nights_has_newest(n, cell) && !run_data_cell(c->now, s->variant, s->context) &&
            was_asked(c->now, s->variant, s->context))
            add_missing(c, s);
    }
}

static void add_missing_since_base(struct comparing *c, enum metric m)
{
    for (size_t i = 0; i < c->base->n_cells; i++) {
        const struct cell *base = &c->base->cells[i];
        const char *variant = c->base->variants[base->variant].name;
        if (!run_data_cell(c->now, variant, base->context) && was_asked(c->now, variant, base->context))
            compare_cell(c, m, variant, base->context, base, NULL);
    }
}

static void compare_cells(struct comparing *c, enum metric m)
{
    for (size_t i = 0; i < c->now->n_cells; i++) {
        const struct cell *now = &c->now->cells[i];
        const char *variant = c->now->variants[now->variant].name;
        const struct cell *base = c->base ? run_data_cell(c->base, variant, now->context) : NULL;
        compare_cell(c, m, variant, now->context, base, now);
    }
    if (c->base)
        add_missing_since_base(c, m);
    else
        add_missing_since_last_night(c, m);
}

static void compare_by(struct comparing *c, enum metric m)
{
    if (m != c->out->primary && !c->o->all_metrics)
        return;
    tonight_open(&c->tonight, c->base, c->now, c->history, m, c->o);
    if (m == c->out->primary) {
        c->out->shift = c->tonight.shift;
        c->out->cards = c->tonight.cards;
    }
    compare_cells(c, m);
    if (m != c->out->primary) {
        tonight_release(&c->tonight);
        return;
    }
    c->out->seen = c->tonight.seen;
    c->out->nights = xmemdup(&c->tonight.nights, sizeof c->tonight.nights);
}

static int by_cell(const void *a, const void *b)
{
    const struct delta *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

/* The place of a cell in the output: as in now, then as in the base. */
static void sort_deltas(struct comparing *c)
{
    struct comparison *out = c->out;
    for (size_t i = 0; i < out->count; i++) {
        const struct delta *d = &out->deltas[i];
        const struct cell *now = run_data_cell(c->now, d->variant, d->context);
        const struct cell *base = !now && c->base ? run_data_cell(c->base, d->variant, d->context) : NULL;
        out->deltas[i].order = now    ? (size_t)(now - c->now->cells)
                               : base ? c->now->n_cells + (size_t)(base - c->base->cells)
                                      : SIZE_MAX - out->count + i;
    }
    if (out->count)
        qsort(out->deltas, out->count, sizeof *out->deltas, by_cell);
}

/* False discoveries are controlled over the cells of one metric. */
static void decide_metric(struct comparing *c, enum metric m)
{
    struct comparison *out = c->out;
    AUTO_FREE double *p = xmalloc(2 * out->count * sizeof *p);
    double *adjusted = p + out->count;
    struct t_limit limit = {0};
    size_t n = 0, tested = 0;
    for (size_t i = 0; i < out->count; i++)
        if (out->deltas[i].metric == m) {
            p[n++] = out->deltas[i].estimate.p;
            tested += isnan(out->deltas[i].estimate.p) ? 0 : 1;
        }
    stats_benjamini_hochberg(p, n, adjusted);
    n = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct delta *d = &out->deltas[i];
        if (d->metric != m)
            continue;
        d->estimate.p_adjusted =
            adjusted[n++]; // NOLINT(clang-analyzer-core.uninitialized.Assign): as many as p
        if (d->reason == REASON_NONE)
            judge_decide(c->o, tested, &limit, d);
        if (m == out->primary)
            out->verdicts[d->verdict]++;
    }
    if (m == out->primary)
        out->tested = tested;
}

enum metric compare_primary(const struct run_data *base, const struct run_data *now,
                            const struct compare_options *o)
{
    struct metric_set measured = {0};
    if (o->keep_metric)
        return o->metric;
    run_data_measured(now, &measured);
    if (base)
        run_data_measured(base, &measured);
    return metric_primary(o->metric == metric_default() ? now->primary : o->metric, &measured);
}

void compare_runs(const struct run_data *base, const struct run_data *now, const struct history *history,
                  const struct compare_options *options, struct comparison *out)
{
    struct compare_options with_base = *options;
    if (base && !with_base.base_runs) {
        with_base.base_runs = &base->info.key;
        with_base.n_base_runs = 1;
    }
    struct comparing c = {.base = base, .now = now, .history = history, .o = &with_base, .out = out};
    *out = (struct comparison){0};
    snprintf(out->base_id, sizeof out->base_id, "%s", base ? base->info.run_id : "");
    snprintf(out->now_id, sizeof out->now_id, "%s", now->info.run_id);
    snprintf(out->base_ticket, sizeof out->base_ticket, "%s", base ? base->info.ticket : "");
    snprintf(out->now_ticket, sizeof out->now_ticket, "%s", now->info.ticket);
    out->carried = xmemdup(now->carried, now->n_carried * sizeof *out->carried);
    out->n_carried = now->n_carried;
    out->primary = compare_primary(base, now, options);
    for (int m = 0; m < METRIC_COUNT; m++)
        compare_by(&c, (enum metric)m);
    sort_deltas(&c);
    for (int m = 0; m < METRIC_COUNT; m++)
        decide_metric(&c, (enum metric)m);
    struct fact_list facts = {0};
    if (base)
        compare_facts(base, now, &facts);
    out->facts = facts.items;
    out->n_facts = facts.count;
}

static void accept_cell(struct comparison *c, struct delta *d, const struct acceptance *a)
{
    d->accepted = a;
    if (strcmp(a->run_id, c->now_id) != 0 || d->verdict != VERDICT_REGRESSED)
        return;
    if (d->metric == c->primary) {
        c->verdicts[VERDICT_REGRESSED]--;
        c->verdicts[VERDICT_ACCEPTED]++;
    }
    d->verdict = VERDICT_ACCEPTED;
}

void comparison_accept(struct comparison *c, const struct acceptances *accepted, const char *last)
{
    c->accepted = xmemdup(accepted->items, accepted->count * sizeof *c->accepted);
    c->n_accepted = accepted->count;
    for (size_t i = 0; i < c->n_accepted; i++) {
        const struct acceptance *a = &c->accepted[i];
        if (strcmp(a->run_id, c->now_id) != 0 && strcmp(a->date, last) != 0)
            continue;
        if (!*a->variant && a->metric == c->primary)
            c->shift.accepted = a;
        for (size_t k = 0; k < c->count; k++)
            if (c->deltas[k].metric == a->metric && c->deltas[k].context == a->context &&
                strcmp(c->deltas[k].variant, a->variant) == 0)
                accept_cell(c, &c->deltas[k], a);
    }
}

void comparison_release(struct comparison *c)
{
    free(c->accepted);
    free(c->carried);
    free(c->deltas);
    free(c->facts);
    causes_release(&c->causes);
    openings_release(&c->openings);
    if (c->nights)
        nights_model_release(c->nights);
    free(c->nights);
    history_release(&c->seen);
    *c = (struct comparison){0};
}

bool comparison_of_two_tickets(const struct comparison *c)
{
    return *c->base_ticket && strcmp(c->base_ticket, c->now_ticket) != 0;
}

static bool any_card_worse(const struct card_shifts *cards)
{
    for (size_t i = 0; i < cards->count; i++)
        if (cards->items[i].worse)
            return true;
    return false;
}

bool comparison_shift_regressed(const struct comparison *c)
{
    const struct common_shift *s = &c->shift;
    bool accepted = s->accepted && strcmp(s->accepted->run_id, c->now_id) == 0;
    return s->found && s->worse && !accepted && (!s->device_changed || s->confirmed == SHIFT_CODE);
}

bool comparison_regressed(const struct comparison *c)
{
    return any_card_worse(&c->cards) || comparison_shift_regressed(c) || c->node_cells > 0 ||
           c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_BROKEN] + c->verdicts[VERDICT_MISSING] > 0;
}
