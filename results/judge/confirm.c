#include "results/judge/confirm.h"

#include "common/base/alloc.h"
#include "results/judge/turns.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A factor that cells share, of which nobody knows whether it is the code's, is settled by this many of them.
 */
enum { WITNESSES = 4 };

static bool shift_is_open(const struct comparison *c)
{
    return c->shift.found && c->shift.worse && !c->shift.from_controls;
}

/* It is in the cells that were judged as it was found: by two runs alone, or by nights. */
static bool is_of_two_runs(const struct common_shift *s)
{
    return s->since_base && isnan(s->p);
}

/* The build of a base that is of another level than the newest nights, as from before an improvement, tells
 * nothing of what was lost since. */
static bool base_had_level(const struct comparison *c, const struct delta *d)
{
    double apart = fabs(log(d->reference.history_median / d->base.median));
    return c->shift.since_base || !*c->base_id || apart < fabs(log(c->shift.ratio)) / 2;
}

static bool shows_factor(const struct comparison *c, const struct delta *d)
{
    if (d->metric != c->primary || c->mixed_base || c->sourceless || d->doubts.other_plan ||
        !base_had_level(c, d))
        return false;
    bool judged_so = (d->estimate.method == METHOD_NIGHTS) == !is_of_two_runs(&c->shift);
    /* it is as much slower as they are */
    return judged_so && fabs(log(d->estimate.ratio)) < fabs(log(c->shift.ratio)) / 2;
}

static bool is_sharper(const struct delta *a, const struct delta *b)
{
    double x = isnan(a->estimate.noise_floor) ? INFINITY : a->estimate.noise_floor;
    double y = isnan(b->estimate.noise_floor) ? INFINITY : b->estimate.noise_floor;
    return x < y || (x <= y && a < b);
}

/* Of the cells that show the factor, those with the smallest errors. */
static bool is_witness(const struct comparison *c, const struct delta *d)
{
    int sharper = 0;
    if (!shift_is_open(c) || !shows_factor(c, d))
        return false;
    for (size_t i = 0; i < c->count; i++)
        sharper += shows_factor(c, &c->deltas[i]) && is_sharper(&c->deltas[i], d);
    return sharper < WITNESSES;
}

static bool is_slower(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && verdict_is_slower(d->verdict);
}

static bool is_suspect(const struct comparison *c, const struct delta *d)
{
    return (is_slower(c, d) && !c->mixed_base && !d->doubts.other_plan) || is_witness(c, d);
}

/* Most witnesses decide. One that is no slower than the base's build in the same session is slow for the sake
 * of the node. */
static enum shift_cause cause_of(const struct comparison *c)
{
    int all = 0, code = 0, node = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (!is_witness(c, d))
            continue;
        all++;
        code += d->confirmation == CONFIRM_STANDS;
        node += d->confirmation == CONFIRM_REFUTED || d->confirmation == CONFIRM_NODE;
    }
    if (2 * code > all)
        return SHIFT_CODE;
    return 2 * node > all ? SHIFT_NODE : SHIFT_UNSETTLED;
}

/* The median of what the cells that stood had lost when both builds were measured alternately. */
static double size_again(const struct comparison *c)
{
    double ratios[WITNESSES];
    size_t n = 0;
    for (size_t i = 0; i < c->count && n < WITNESSES; i++) {
        const struct delta *d = &c->deltas[i];
        if (is_witness(c, d) && d->confirmation == CONFIRM_STANDS && d->again > 0)
            ratios[n++] = d->again;
    }
    return n ? stats_median(ratios, n) : 0;
}

static void set_verdict(struct comparison *c, struct delta *d, enum verdict v)
{
    c->verdicts[d->verdict]--;
    c->verdicts[v]++;
    d->verdict = v;
}

static void take_back(struct delta *d)
{
    struct delta_estimate *e = &d->estimate;
    double factor = d->reference.common;
    d->reference.value /= factor;
    d->reference.common = 1;
    d->doubts.factor_is_open = false;
    e->ratio *= factor;
    e->factor = metric_info(d->metric)->better == METRIC_LESS ? 1 / e->ratio : e->ratio;
    e->low *= factor;
    e->high *= factor;
    e->z = log(e->ratio) / e->noise_floor;
    e->p = e->p_adjusted = NAN; /* they were of the rest */
}

/* The verdict on a cell that has its share of the factor back. */
static enum verdict verdict_on_all(const struct delta *d)
{
    double change = d->estimate.ratio - 1, least = d->estimate.threshold;
    double loss = metric_info(d->metric)->better == METRIC_LESS ? change : -change;
    if (d->confirmation == CONFIRM_REFUTED || d->confirmation == CONFIRM_NODE)
        return VERDICT_NOISY;
    if (d->stand.stands || d->confirmation == CONFIRM_STANDS || loss > fmax(least, d->estimate.detectable))
        return VERDICT_REGRESSED;
    if (fabs(loss) <= least)
        return VERDICT_UNCHANGED;
    return loss < 0 && d->verdict == VERDICT_IMPROVED ? VERDICT_IMPROVED : VERDICT_NOISY;
}

static enum reason_code reason_on_all(const struct delta *d, enum verdict v)
{
    if (v == VERDICT_REGRESSED)
        return verdict_is_slower(d->verdict) ? d->reason : REASON_SHARED;
    if (v == VERDICT_UNCHANGED)
        return REASON_BELOW;
    return v == VERDICT_IMPROVED ? REASON_CHANGED : REASON_INSUFFICIENT;
}

/* What was not measured alternately itself has lost by the code what the others have by it. */
static void give_back(struct comparison *c, struct delta *d)
{
    double own = d->estimate.ratio;
    if (d->metric != c->primary || !d->doubts.factor_is_open || !isfinite(d->estimate.ratio) ||
        d->doubts.other_device)
        return;
    take_back(d);
    enum verdict v = verdict_on_all(d);
    d->reason = reason_on_all(d, v);
    set_verdict(c, d, v);
    if (d->confirmation != CONFIRM_STANDS && c->shift.again > 0)
        d->again = own * c->shift.again;
}

/* The witnesses are found by the factor, so all of them before any cell has it back. */
static void settle_factor(struct comparison *c)
{
    if (!shift_is_open(c))
        return;
    c->shift.confirmed = cause_of(c);
    if (c->shift.confirmed != SHIFT_CODE)
        return;
    c->shift.again = size_again(c);
    for (size_t i = 0; i < c->count; i++)
        give_back(c, &c->deltas[i]);
}

bool confirm_is_needed(const struct comparison *c)
{
    return shift_is_open(c) || c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_SUSPECTED] > 0;
}

enum confirmation confirm_outcome(const struct delta *d)
{
    bool cleared = d->confirmation == CONFIRM_REFUTED || d->confirmation == CONFIRM_NODE;
    bool own = verdict_is_slower(d->verdict) || (d->verdict == VERDICT_NOISY && cleared);
    return own ? d->confirmation : CONFIRM_NOT_ASKED;
}

bool confirm_may_settle(const struct delta *d)
{
    return d->verdict == VERDICT_SUSPECTED && d->compared == COMPARED_RUNS && !d->doubts.no_builds &&
           !d->doubts.other_plan && d->confirmation == CONFIRM_NOT_ASKED;
}

enum confirm_use confirm_use_for(const struct comparison *c)
{
    enum confirm_use use = CONFIRM_USELESS;
    bool open = shift_is_open(c) && c->shift.confirmed == SHIFT_UNSETTLED;
    for (size_t i = 0; open && *c->base_id && !c->half_sourced && i < c->count; i++) {
        if (!shows_factor(c, &c->deltas[i]))
            continue;
        if (c->deltas[i].confirmation != CONFIRM_NOT_ASKED)
            return CONFIRM_DID_NOT_TELL;
        use = CONFIRM_CAN_TELL;
    }
    return use;
}

bool confirm_exceeds_base(const struct delta *d)
{
    return d->reference.kind == REFERENCE_LEVEL && isfinite(d->base.median);
}

static bool is_undecided(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->confirmation == CONFIRM_UNDECIDED && !confirm_exceeds_base(d) &&
           !d->doubts.other_build;
}

static void list_cells(const struct comparison *c,
                       bool (*belongs)(const struct comparison *, const struct delta *),
                       struct suspect_list *out)
{
    *out = (struct suspect_list){.items = xcalloc(c->count, sizeof *out->items)};
    for (size_t i = 0; i < c->count; i++)
        if (belongs(c, &c->deltas[i])) {
            struct suspect *s = &out->items[out->count++];
            snprintf(s->variant, sizeof s->variant, "%s", c->deltas[i].variant);
            s->context = c->deltas[i].context;
            snprintf(s->gpu, sizeof s->gpu, "%s", c->deltas[i].now.gpu);
        }
}

void confirm_suspects(const struct comparison *c, struct suspect_list *out)
{
    list_cells(c, is_suspect, out);
}

void confirm_undecided(const struct comparison *c, struct suspect_list *out)
{
    list_cells(c, is_undecided, out);
}

void suspect_list_release(struct suspect_list *l)
{
    free(l->items);
    *l = (struct suspect_list){0};
}

/* A suspect that alternating builds confirm is a finding on its first night. */
static void set_confirmation(struct comparison *c, struct delta *d, enum confirmation found,
                             enum undecided why, double ratio)
{
    d->confirmation = found;
    d->again = isfinite(ratio) ? ratio : 0;
    d->doubts.undecided = why;
    if (!is_slower(c, d))
        return;
    if (found == CONFIRM_NODE)
        c->node_cells++;
    if (found == CONFIRM_REFUTED || found == CONFIRM_NODE)
        set_verdict(c, d, VERDICT_NOISY);
    else if (found == CONFIRM_STANDS)
        set_verdict(c, d, VERDICT_REGRESSED);
}

/* How much worse a median is than what the first comparison expected. */
static double loss_of(const struct delta *d, double median)
{
    double change = median / d->reference.value - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

static bool is_still_slow(const struct comparison *c, const struct delta *d, const struct delta *again)
{
    return !is_slower(c, d) || loss_of(d, again->now.median) > loss_of(d, d->now.median) / 2;
}

/* Whether another compiler, or a file outside the sources, made other code of the base's sources. */
static bool is_other_code(const struct turns_runs *base, const struct delta *d)
{
    for (size_t i = 0; *d->base.code && i < base->count; i++) {
        const struct run_variant *v = run_data_variant(base->items[i], d->variant);
        if (v && *v->code_sha256 && strcmp(v->code_sha256, d->base.code) != 0)
            return true;
    }
    return false;
}

/* why: set where the outcome is undecided. */
static enum confirmation outcome_of(const struct comparison *c, const struct delta *d,
                                    const struct delta *again, const struct compare_options *o,
                                    enum undecided *why)
{
    if (again->base.n == 0 || again->now.n == 0)
        *why = UNDECIDED_NOT_MEASURED;
    else if (again->verdict == VERDICT_REGRESSED)
        return CONFIRM_STANDS;
    else if (confirm_exceeds_base(d))
        *why = UNDECIDED_OLDER_BASE;
    else if (again->verdict == VERDICT_NOISY)
        *why = UNDECIDED_NOISY;
    else if (d->doubts.other_build && is_still_slow(c, d, again))
        *why = UNDECIDED_OTHER_BUILD;
    else
        return loss_of(d, again->base.median) > o->node_shift && is_slower(c, d) ? CONFIRM_NODE
                                                                                 : CONFIRM_REFUTED;
    return CONFIRM_UNDECIDED;
}

void confirm_judge(struct comparison *c, const struct run_data *const *base, size_t n_base,
                   const struct run_data *const *now, size_t n_now, const struct compare_options *options)
{
    const struct turns_runs bases = {base, n_base}, nows = {now, n_now};
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i], again = *d;
        enum undecided why = UNDECIDED_NOISY;
        if (!is_suspect(c, d))
            continue;
        turns_judge(&bases, &nows, options, &again);
        d->doubts.other_build = c->sourceless || is_other_code(&bases, d);
        enum confirmation found = outcome_of(c, d, &again, options, &why);
        set_confirmation(c, d, found, why, again.estimate.ratio);
    }
    settle_factor(c);
}

void confirm_records_release(struct confirm_records *l)
{
    free(l->items);
    *l = (struct confirm_records){0};
}

void confirm_apply(const struct confirm_records *l, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < l->count; j++) {
            struct delta *d = &c->deltas[i];
            const struct confirm_record *r = &l->items[j];
            if (!is_suspect(c, d) || r->context != d->context || strcmp(r->variant, d->variant) != 0)
                continue;
            d->doubts.other_build = c->sourceless || r->undecided == UNDECIDED_OTHER_BUILD;
            set_confirmation(c, d, r->confirmation, r->undecided, r->ratio);
        }
    settle_factor(c);
}
