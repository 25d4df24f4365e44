#include "results/judge/confirm.h"

#include "results/judge/turns.h"

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
    double apart = fabs(log(d->history_median / d->base_median));
    return c->shift.since_base || !*c->base_id || apart < fabs(log(c->shift.ratio)) / 2;
}

static bool shows_factor(const struct comparison *c, const struct delta *d)
{
    if (d->metric != c->primary || c->mixed_base || c->sourceless || d->other_plan || !base_had_level(c, d))
        return false;
    bool judged_so = (d->method == METHOD_NIGHTS) == !is_of_two_runs(&c->shift);
    /* it is as much slower as they are */
    return judged_so && fabs(log(d->ratio)) < fabs(log(c->shift.ratio)) / 2;
}

static bool is_sharper(const struct delta *a, const struct delta *b)
{
    double x = isnan(a->noise_floor) ? INFINITY : a->noise_floor;
    double y = isnan(b->noise_floor) ? INFINITY : b->noise_floor;
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
    return d->metric == c->primary && d->verdict == VERDICT_REGRESSED;
}

static bool is_suspect(const struct comparison *c, const struct delta *d)
{
    return (is_slower(c, d) && !c->mixed_base && !d->other_plan) || is_witness(c, d);
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

static void settle_factor(struct comparison *c)
{
    if (shift_is_open(c))
        c->shift.confirmed = cause_of(c);
}

bool confirm_is_needed(const struct comparison *c)
{
    return shift_is_open(c) || c->verdicts[VERDICT_REGRESSED] > 0;
}

enum confirmation confirm_outcome(const struct delta *d)
{
    bool cleared = d->confirmation == CONFIRM_REFUTED || d->confirmation == CONFIRM_NODE;
    bool own = d->verdict == VERDICT_REGRESSED || (d->verdict == VERDICT_NOISY && cleared);
    return own ? d->confirmation : CONFIRM_NOT_ASKED;
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
    return d->against == REFERENCE_LEVEL && isfinite(d->base_median);
}

static bool is_undecided(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->confirmation == CONFIRM_UNDECIDED && !confirm_exceeds_base(d) &&
           !d->other_build;
}

static int list_cells(const struct comparison *c,
                      bool (*belongs)(const struct comparison *, const struct delta *),
                      struct suspect_list *out, struct err *err)
{
    *out = (struct suspect_list){.items = calloc(c->count + 1, sizeof *out->items)};
    if (!out->items)
        return err_set(err, ERR_INTERNAL, "no memory for the suspects");
    for (size_t i = 0; i < c->count; i++)
        if (belongs(c, &c->deltas[i])) {
            struct suspect *s = &out->items[out->count++];
            snprintf(s->variant, sizeof s->variant, "%s", c->deltas[i].variant);
            s->context = c->deltas[i].context;
            memcpy(s->gpu, c->deltas[i].gpu, sizeof s->gpu);
        }
    return 0;
}

int confirm_suspects(const struct comparison *c, struct suspect_list *out, struct err *err)
{
    return list_cells(c, is_suspect, out, err);
}

int confirm_undecided(const struct comparison *c, struct suspect_list *out, struct err *err)
{
    return list_cells(c, is_undecided, out, err);
}

void suspect_list_release(struct suspect_list *l)
{
    free(l->items);
    *l = (struct suspect_list){0};
}

static void set_confirmation(struct comparison *c, struct delta *d, enum confirmation found,
                             const char *reason)
{
    d->confirmation = found;
    if (!is_slower(c, d))
        return;
    snprintf(d->reason, sizeof d->reason, "%s", reason);
    if (found == CONFIRM_NODE)
        c->node_cells++;
    if (found != CONFIRM_REFUTED && found != CONFIRM_NODE)
        return;
    d->verdict = VERDICT_NOISY;
    c->verdicts[VERDICT_REGRESSED]--;
    c->verdicts[VERDICT_NOISY]++;
}

/* How much worse a median is than what the first comparison expected. */
static double loss_of(const struct delta *d, double median)
{
    double change = median / d->reference - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

static bool is_still_slow(const struct comparison *c, const struct delta *d, const struct delta *again)
{
    return !is_slower(c, d) || loss_of(d, again->now_median) > loss_of(d, d->now_median) / 2;
}

/* Whether another compiler, or a file outside the sources, made other code of the base's sources. */
static bool is_other_code(const struct turns_runs *base, const struct delta *d)
{
    for (size_t i = 0; *d->base_code && i < base->count; i++) {
        const struct run_variant *v = run_data_variant(base->items[i], d->variant);
        if (v && *v->code_sha256 && strcmp(v->code_sha256, d->base_code) != 0)
            return true;
    }
    return false;
}

static void conclude(struct comparison *c, struct delta *d, const struct delta *again,
                     const struct compare_options *o)
{
    char reason[COMPARE_REASON_MAX];
    enum confirmation found = CONFIRM_UNDECIDED;
    double shift = loss_of(d, again->base_median);
    if (again->base_n == 0 || again->now_n == 0)
        snprintf(reason, sizeof reason, "not measured again (%d and %d repetitions in turns): %.200s",
                 again->base_n, again->now_n, d->reason);
    else if (again->verdict == VERDICT_REGRESSED) {
        found = CONFIRM_STANDS;
        snprintf(reason, sizeof reason, "confirmed in turns with the base's build: %.200s", again->reason);
    } else if (confirm_exceeds_base(d))
        snprintf(reason, sizeof reason,
                 "measured again in turns and not settled: the base's build is from before the level of the "
                 "newest nights, and cannot tell what was lost since: %.200s",
                 d->reason);
    else if (again->verdict == VERDICT_NOISY)
        snprintf(reason, sizeof reason,
                 "measured again in turns with the base's build, n = %d and %d, and still undecided: %.200s",
                 again->base_n, again->now_n, again->reason);
    else if (d->other_build && is_still_slow(c, d, again))
        snprintf(
            reason, sizeof reason,
            "measured again and as slow, but the base's build could not be made again, so the cause may be "
            "the code or the node: %.200s",
            d->reason);
    else if (shift > o->node_shift && is_slower(c, d)) {
        found = CONFIRM_NODE;
        snprintf(reason, sizeof reason,
                 "the node, not the sources: measured again in turns, the base's own build has changed by "
                 "%+.0f %% (%.6g -> %.6g)",
                 100 * (again->base_median / d->reference - 1), d->reference, again->base_median);
    } else {
        found = CONFIRM_REFUTED;
        snprintf(reason, sizeof reason, "not confirmed in turns with the base's build, n = %d and %d: %.200s",
                 again->base_n, again->now_n, again->reason);
    }
    set_confirmation(c, d, found, reason);
}

int confirm_judge(struct comparison *c, const struct run_data *const *base, size_t n_base,
                  const struct run_data *const *now, size_t n_now, const struct compare_options *options,
                  struct err *err)
{
    const struct turns_runs bases = {base, n_base}, nows = {now, n_now};
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i], again = *d;
        if (!is_suspect(c, d))
            continue;
        if (turns_judge(&bases, &nows, options, &again, err) != 0)
            return -1;
        d->other_build = c->sourceless || is_other_code(&bases, d);
        conclude(c, d, &again, options);
    }
    settle_factor(c);
    return 0;
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
            if (is_suspect(c, d) && l->items[j].context == d->context &&
                strcmp(l->items[j].variant, d->variant) == 0)
                set_confirmation(c, d, l->items[j].confirmation, l->items[j].reason);
        }
    settle_factor(c);
}
