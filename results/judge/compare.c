#include "results/judge/compare.h"

#include "common/base/alloc.h"
#include "results/judge/compare_values.h"
#include "results/judge/judge.h"
#include "results/judge/tonight.h"
#include "results/judge/windows.h"
#include "results/stats/stats.h"

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

static struct delta *add_delta(struct comparing *c, const char *variant, int context, enum metric m,
                               struct err *err)
{
    struct comparison *out = c->out;
    if (!ALLOC_GROW(out->deltas, out->count + 1, c->cap)) {
        err_set(err, ERR_INTERNAL, "no memory for the comparison");
        return NULL;
    }
    struct delta *d = &out->deltas[out->count++];
    *d = (struct delta){.context = context, .metric = m, .verdict = VERDICT_UNCHANGED, .method = METHOD_NONE};
    snprintf(d->variant, sizeof d->variant, "%s", variant);
    d->base_median = d->now_median = d->reference = d->ratio = d->factor = NAN;
    d->threshold = d->noise_floor = d->between_runs = d->detectable = d->history_median = NAN;
    d->beside = d->base_beside = RUN_UNKNOWN;
    d->z = d->freedom = d->p = d->p_adjusted = d->ratio_low = d->ratio_high = NAN;
    d->common = d->own = 1;
    return d;
}

/* How reasons call the two sides. */
struct sides {
    const char *base, *now, *subject;
};

static struct sides sides_of(const struct compare_options *o, const struct run_data *base)
{
    return o->within_run ? (struct sides){"reference", "here", "variant"}
                         : (struct sides){base ? "base" : "earlier nights", "now", "run"};
}

static void describe_failure(struct delta *d, const struct cell *now, const char *before)
{
    int failed = now->counted - now->ok;
    if (now->counted > 1)
        snprintf(d->reason, sizeof d->reason, "%s %s (%d of %d repetitions)%s%.160s", before,
                 status_name(now->status), failed, now->counted, *now->reason ? ": " : "", now->reason);
    else
        snprintf(d->reason, sizeof d->reason, "%s %s%s%.160s", before, status_name(now->status),
                 *now->reason ? ": " : "", now->reason);
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

/* Without a base: the history has only nights in which the cell was OK. */
static bool broke_since(const struct comparing *c, struct delta *d, const struct cell *now)
{
    if (now->status == STATUS_OK)
        return false;
    bool unmeasured = is_unmeasured(c->now, now);
    d->in_base = true;
    d->verdict = unmeasured ? VERDICT_MISSING : VERDICT_BROKEN;
    describe_failure(
        d, now, unmeasured ? "was OK on earlier nights, not measured now:" : "was OK on earlier nights, now");
    return true;
}

/* What was not measured on one side says nothing of the other. */
static bool judge_unmeasured(const struct comparing *c, struct delta *d, const struct cell *base,
                             const struct cell *now, struct sides sides)
{
    bool then = base && is_unmeasured(c->base, base), here = now && is_unmeasured(c->now, now);
    char before[64];
    if (then == here || !base || !now)
        return false;
    d->verdict = here ? VERDICT_MISSING : VERDICT_NEW;
    if (here) {
        snprintf(before, sizeof before, "%s in the %s, not measured %s:", status_name(base->status),
                 sides.base, sides.now);
        describe_failure(d, now, before);
    } else {
        snprintf(d->reason, sizeof d->reason, "not measured in the %s (%s), %s %s", sides.base,
                 status_name(base->status), sides.now, status_name(now->status));
    }
    return true;
}

static void describe_broken(struct delta *d, const struct cell *now, const char *before, struct sides sides)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s the %s, %s", before, sides.base, sides.now);
    describe_failure(d, now, prefix);
}

/* The verdicts that follow from the status of both sides; false if the values have to decide. */
static bool judge_states(const struct comparing *c, struct delta *d, const struct cell *base,
                         const struct cell *now, struct sides sides)
{
    bool base_ok = base && base->status == STATUS_OK, now_ok = now && now->status == STATUS_OK;
    if (judge_unmeasured(c, d, base, now, sides))
        return true;
    if (!now) {
        d->verdict = VERDICT_MISSING;
        snprintf(d->reason, sizeof d->reason, "%s in the %s, not measured %s", status_name(d->base_status),
                 sides.base, sides.now);
    } else if (!base) {
        d->verdict = VERDICT_NEW;
        if (now_ok)
            snprintf(d->reason, sizeof d->reason, "not in the %s", sides.base);
        else
            describe_broken(d, now, "not in", sides);
    } else if (base_ok && !now_ok) {
        d->verdict = VERDICT_BROKEN;
        describe_broken(d, now, "OK in", sides);
    } else if (!base_ok && now_ok) {
        d->verdict = VERDICT_FIXED;
        snprintf(d->reason, sizeof d->reason, "%s in the %s, %s OK", status_name(base->status), sides.base,
                 sides.now);
    } else if (!base_ok) {
        d->verdict = VERDICT_UNCHANGED;
        describe_broken(d, now, "not OK in", sides);
    } else
        return false;
    return true;
}

/* Both sides are OK, and only one has the metric: a program that no longer prints it, or prints it now. */
static bool judge_lacking(struct delta *d, struct sides sides)
{
    const char *metric = metric_info(d->metric)->name;
    if ((d->base_n > 0) == (d->now_n > 0))
        return false;
    d->verdict = d->base_n > 0 ? VERDICT_MISSING : VERDICT_NEW;
    if (d->base_n > 0)
        snprintf(d->reason, sizeof d->reason, "the %s has %s, this %s does not", sides.base, metric,
                 sides.subject);
    else
        snprintf(d->reason, sizeof d->reason, "the %s has no %s", sides.base, metric);
    return true;
}

static void set_sides(struct comparing *c, struct delta *d, const struct cell *base, const struct cell *now)
{
    d->in_base = base;
    d->in_now = now;
    d->within_run = c->o->within_run;
    d->by_nights = !c->base && !c->o->within_run;
    d->base_status = base ? base->status : STATUS_OK;
    d->now_status = now ? now->status : STATUS_OK;
    d->otherwise = now && c->o->otherwise && c->o->otherwise[now->variant];
    snprintf(d->attn_impl, sizeof d->attn_impl, "%s", now ? now->attn_impl : base->attn_impl);
    if (base) {
        d->base_n = base->n[d->metric];
        d->base_median = base->median[d->metric];
    }
    if (now) {
        d->now_n = now->n[d->metric];
        d->now_median = now->median[d->metric];
    }
    d->threshold = c->o->regression;
}

/* Both sides have the metric, of different things. */
static bool judge_windows(const struct comparing *c, struct delta *d, const struct cell *base,
                          const struct cell *now)
{
    const char *why = windows_differ(d->metric, c->base, base, c->now, now);
    if (!why)
        return false;
    d->verdict = VERDICT_NOISY;
    d->apart = true;
    snprintf(d->reason, sizeof d->reason, "%s", why);
    return true;
}

/* Against nights: the cell ran, and no longer has the metric that the night before had. */
static bool lost_metric(const struct comparing *c, struct delta *d, const struct night_cell *n)
{
    if (d->now_n > 0 || !nights_has_newest(&c->tonight.nights, n))
        return false;
    d->in_base = true;
    d->verdict = VERDICT_MISSING;
    snprintf(d->reason, sizeof d->reason, "the night before has %s, this run does not",
             metric_info(d->metric)->name);
    return true;
}

static int compare_values(struct comparing *c, struct delta *d, const struct cell *base,
                          const struct cell *now, struct err *err)
{
    const struct comparing_cell cell = {.tonight = &c->tonight, .base = base, .now = now, .limit = &c->limit};
    set_places(c->base, base, c->now, now, d);
    return compare_cell_values(&cell, c->o, d, err);
}

/* base and now are not both NULL. */
static int compare_metric(struct comparing *c, const char *variant, int context, enum metric m,
                          const struct cell *base, const struct cell *now, struct err *err)
{
    struct delta *d = add_delta(c, variant, context, m, err);
    if (!d)
        return -1;
    set_sides(c, d, base, now);
    const struct night_cell *nights = now ? nights_find_cell(&c->tonight.nights, variant, context) : NULL;
    bool from_nights = !c->base && nights;
    struct sides sides = sides_of(c->o, c->base);
    bool settled = from_nights ? broke_since(c, d, now) || lost_metric(c, d, nights)
                               : judge_states(c, d, base, now, sides) || judge_lacking(d, sides);
    if (settled || judge_windows(c, d, base, now))
        return 0;
    d->in_base = base || from_nights;
    return compare_values(c, d, base, now, err);
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

static int compare_cell(struct comparing *c, enum metric m, const char *variant, int context,
                        const struct cell *base, const struct cell *now, struct err *err)
{
    return is_compared(c, m, base, now) ? compare_metric(c, variant, context, m, base, now, err) : 0;
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

static int add_missing(struct comparing *c, const struct history_series *s, struct err *err)
{
    struct delta *d = add_delta(c, s->variant, s->context, s->metric, err);
    if (!d)
        return -1;
    d->in_base = d->by_nights = true;
    d->history_n = (int)s->count;
    d->threshold = c->o->regression;
    d->verdict = VERDICT_MISSING;
    snprintf(d->reason, sizeof d->reason, "OK the night before, not measured now");
    return 0;
}

/* Cells that the last night measured, and that this run was to measure and did not. */
static int add_missing_since_last_night(struct comparing *c, enum metric m, struct err *err)
{
    const struct nights *n = &c->tonight.nights;
    for (size_t k = 0; m == c->out->primary && k < n->n_cells; k++) {
        const struct night_cell *cell = &n->cells[k];
        const struct history_series *s = cell->series;
        if (nights_has_newest(n, cell) && !run_data_cell(c->now, s->variant, s->context) &&
            was_asked(c->now, s->variant, s->context) && add_missing(c, s, err) != 0)
            return -1;
    }
    return 0;
}

static int add_missing_since_base(struct comparing *c, enum metric m, struct err *err)
{
    for (size_t i = 0; i < c->base->n_cells; i++) {
        const struct cell *base = &c->base->cells[i];
        const char *variant = c->base->variants[base->variant].name;
        if (!run_data_cell(c->now, variant, base->context) && was_asked(c->now, variant, base->context) &&
            compare_cell(c, m, variant, base->context, base, NULL, err) != 0)
            return -1;
    }
    return 0;
}

static int compare_cells(struct comparing *c, enum metric m, struct err *err)
{
    for (size_t i = 0; i < c->now->n_cells; i++) {
        const struct cell *now = &c->now->cells[i];
        const char *variant = c->now->variants[now->variant].name;
        const struct cell *base = c->base ? run_data_cell(c->base, variant, now->context) : NULL;
        if (compare_cell(c, m, variant, now->context, base, now, err) != 0)
            return -1;
    }
    return c->base ? add_missing_since_base(c, m, err) : add_missing_since_last_night(c, m, err);
}

static int compare_by(struct comparing *c, enum metric m, struct err *err)
{
    if (m != c->out->primary && !c->o->all_metrics)
        return 0;
    if (tonight_open(&c->tonight, c->base, c->now, c->history, m, c->o, err) != 0)
        return -1;
    if (m == c->out->primary) {
        c->out->shift = c->tonight.shift;
        c->out->cards = c->tonight.cards;
    }
    int rc = compare_cells(c, m, err);
    tonight_release(&c->tonight);
    return rc;
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
static int decide_metric(struct comparing *c, enum metric m, struct err *err)
{
    struct comparison *out = c->out;
    double *p = malloc((2 * out->count + 1) * sizeof *p);
    if (!p)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    double *adjusted = p + out->count;
    struct t_limit limit = {0};
    size_t n = 0, tested = 0;
    for (size_t i = 0; i < out->count; i++)
        if (out->deltas[i].metric == m) {
            p[n++] = out->deltas[i].p;
            tested += isnan(out->deltas[i].p) ? 0 : 1;
        }
    stats_benjamini_hochberg(p, n, adjusted);
    n = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct delta *d = &out->deltas[i];
        if (d->metric != m)
            continue;
        d->p_adjusted = adjusted[n++]; // NOLINT(clang-analyzer-core.uninitialized.Assign): as many as p
        if (!*d->reason)
            judge_decide(c->o, tested, &limit, d);
        if (m == out->primary)
            out->verdicts[d->verdict]++;
    }
    if (m == out->primary)
        out->tested = tested;
    free(p);
    return 0;
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

int compare_runs(const struct run_data *base, const struct run_data *now, const struct history *history,
                 const struct compare_options *options, struct comparison *out, struct err *err)
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
    out->primary = compare_primary(base, now, options);
    int rc = 0;
    for (int m = 0; rc == 0 && m < METRIC_COUNT; m++)
        rc = compare_by(&c, (enum metric)m, err);
    if (rc == 0)
        sort_deltas(&c);
    for (int m = 0; rc == 0 && m < METRIC_COUNT; m++)
        rc = decide_metric(&c, (enum metric)m, err);
    struct fact_list facts = {0};
    if (rc == 0 && base)
        compare_facts(base, now, &facts);
    out->facts = facts.items;
    out->n_facts = facts.count;
    if (rc != 0)
        comparison_release(out);
    return rc;
}

void comparison_release(struct comparison *c)
{
    free(c->deltas);
    free(c->facts);
    causes_release(&c->causes);
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
    return s->found && s->worse && (!s->device_changed || s->confirmed == SHIFT_CODE);
}

bool comparison_regressed(const struct comparison *c)
{
    return any_card_worse(&c->cards) || comparison_shift_regressed(c) || c->node_cells > 0 ||
           c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_BROKEN] + c->verdicts[VERDICT_MISSING] > 0;
}
