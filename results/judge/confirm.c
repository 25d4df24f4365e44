#include "results/judge/confirm.h"

#include "results/judge/turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A common factor of which nobody knows whether it is the node's or the code's is settled by this many cells.
 */
enum { WITNESSES = 4 };

static bool shift_is_open(const struct comparison *c)
{
    return c->shift.found && c->shift.worse && !c->shift.from_controls;
}

/* Of the cells that were judged by nights, those with the smallest errors are the witnesses of a common
 * factor. */
static bool is_witness(const struct comparison *c, const struct delta *d)
{
    int better = 0;
    if (d->metric != c->primary || d->method != METHOD_NIGHTS || !shift_is_open(c))
        return false;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *other = &c->deltas[i];
        if (other->metric == c->primary && other->method == METHOD_NIGHTS && other != d)
            better +=
                other->noise_floor < d->noise_floor || (other->noise_floor == d->noise_floor && other < d);
    }
    return better < WITNESSES;
}

static bool is_slower(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->verdict == VERDICT_REGRESSED;
}

static bool is_suspect(const struct comparison *c, const struct delta *d)
{
    return is_slower(c, d) || is_witness(c, d);
}

/* Most witnesses decide. One that is no slower than the base's build in the same session is slow for the
 * node's sake. */
static void settle_shift(struct comparison *c)
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
        c->shift.confirmed = SHIFT_CODE;
    else if (2 * node > all)
        c->shift.confirmed = SHIFT_NODE;
}

bool confirm_is_needed(const struct comparison *c)
{
    return c->verdicts[VERDICT_REGRESSED] > 0 || shift_is_open(c);
}

static bool is_undecided(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->confirmation == CONFIRM_UNDECIDED;
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

/* The relative slowdown of the base's own build since the first comparison. */
static double base_shift(const struct delta *d, const struct delta *again)
{
    double change = again->base_median / d->reference - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

static void conclude(struct comparison *c, struct delta *d, const struct delta *again,
                     const struct compare_options *o)
{
    char reason[COMPARE_REASON_MAX];
    enum confirmation found = CONFIRM_UNDECIDED;
    double shift = base_shift(d, again);
    if (again->base_n == 0 || again->now_n == 0)
        snprintf(reason, sizeof reason, "not measured again (%d and %d repetitions in turns): %.200s",
                 again->base_n, again->now_n, d->reason);
    else if (again->verdict == VERDICT_REGRESSED) {
        found = CONFIRM_STANDS;
        snprintf(reason, sizeof reason, "confirmed in turns with the base's build: %.200s", again->reason);
    } else if (again->verdict == VERDICT_NOISY)
        snprintf(reason, sizeof reason,
                 "measured again in turns with the base's build, n = %d and %d, and still undecided: %.200s",
                 again->base_n, again->now_n, again->reason);
    else if (shift > o->node_shift) {
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
        conclude(c, d, &again, options);
    }
    settle_shift(c);
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
    settle_shift(c);
}
