#include "results/judge/turns.h"

#include "common/base/alloc.h"
#include "results/judge/judge.h"
#include "results/judge/strata.h"
#include "results/judge/windows.h"
#include "results/judge/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void turns_judge_values(const struct pair *v, enum metric m, const struct compare_options *o, struct delta *d)
{
    const struct evidence e = {.base = v->base,
                               .base_n = v->base_n,
                               .now = v->now,
                               .now_n = v->now_n,
                               .common = 1,
                               .own = 1,
                               .exact = NAN,
                               .noise = NAN};
    struct compare_options session = *o;
    struct t_limit limit = {0};
    session.same_session = true;
    *d = delta_of(d->variant, d->context, m);
    d->compared = COMPARED_TURNS;
    d->verdict = VERDICT_NOISY;
    d->reason = REASON_NO_VALUE;
    d->base.present = v->base_n > 0;
    d->now.present = v->now_n > 0;
    judge_measure(&e, &session, d);
    if (v->base_n == 0 || v->now_n == 0)
        return;
    d->estimate.p_adjusted = d->estimate.p;
    d->estimate.mixed = pair_mixed(v, d->estimate.ratio, o->middle > 0 ? o->middle : sqrt(d->estimate.ratio));
    judge_decide(&session, 1, &limit, d);
}

static const struct cell *cell_of(const struct run_data *run, const struct delta *d)
{
    return run_data_cell(run, d->variant, d->context);
}

static void measured_by(const struct turns_runs *side, const struct delta *d, struct metric_set *out)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct cell *c = cell_of(side->items[i], d);
        for (int m = 0; c && m < METRIC_COUNT; m++)
            out->has[m] |= c->n[m] > 0;
    }
}

/* Of the plan, and so of all runs that say so. */
static enum metric named_primary(const struct turns_runs *side)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->items[i]->primary != METRIC_COUNT)
            return side->items[i]->primary;
    return METRIC_COUNT;
}

enum metric turns_metric(const struct turns_runs *base, const struct turns_runs *now, const struct delta *d)
{
    struct metric_set of_base = {0}, of_now = {0}, both = {0}, either = {0};
    enum metric named = named_primary(now);
    if (named == METRIC_COUNT)
        named = named_primary(base);
    measured_by(base, d, &of_base);
    measured_by(now, d, &of_now);
    for (int m = 0; m < METRIC_COUNT; m++) {
        both.has[m] = of_base.has[m] && of_now.has[m];
        either.has[m] = of_base.has[m] || of_now.has[m];
    }
    if (named != METRIC_COUNT && either.has[named])
        return named;
    enum metric common = metric_primary(METRIC_COUNT, &both);
    return both.has[common] && metric_is_judged(common) ? common : metric_primary(METRIC_COUNT, &either);
}

bool turns_passed(const struct turns_runs *side, const struct delta *d)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct cell *c = cell_of(side->items[i], d);
        if (c && c->ok > 0)
            return true;
    }
    return false;
}

static bool has_failed(const struct run_test *t)
{
    return !t->warmup && t->status != STATUS_OK && t->status != STATUS_CANCELLED &&
           t->status != STATUS_INTERRUPTED && t->status != STATUS_SKIPPED;
}

struct turns_failed turns_failed(const struct turns_runs *side, const struct delta *d)
{
    struct turns_failed out = {.status = STATUS_OK, .reason = ""};
    for (size_t i = 0; i < side->count; i++) {
        const struct cell *c = cell_of(side->items[i], d);
        for (size_t k = 0; c && k < c->count; k++) {
            const struct run_test *t = &side->items[i]->tests[c->first + k];
            out.of += !t->warmup && (t->status == STATUS_OK || has_failed(t));
            if (has_failed(t) && out.failed++ == 0) {
                out.status = t->status;
                out.reason = t->reason;
            }
        }
    }
    return out;
}

static size_t count_tests(const struct turns_runs *side)
{
    size_t n = 0;
    for (size_t i = 0; i < side->count; i++)
        n += side->items[i]->n_tests;
    return n;
}

/* The values of the cell on one GPU in all runs of a side; 0: on all. */
static size_t values_on(const struct turns_runs *side, const struct delta *d, uint64_t device, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < side->count; i++)
        n += places_values(side->items[i], cell_of(side->items[i], d), d->metric, device, out + n);
    return n;
}

/* The GPUs of all runs of a side; one that is unknown makes all unknown. */
static void places_of_side(const struct turns_runs *side, const struct delta *d, struct places *out)
{
    *out = (struct places){0};
    for (size_t i = 0; i < side->count; i++) {
        struct places p;
        places_of(side->items[i], cell_of(side->items[i], d), d->metric, &p);
        for (size_t k = 0; k < p.count; k++) {
            if (!p.device[k] && cell_of(side->items[i], d)) {
                *out = (struct places){.count = 1};
                return;
            }
            if (p.device[k] && !places_have(out, p.device[k]) && out->count < PLACES_MAX)
                out->device[out->count++] = p.device[k];
        }
    }
    if (out->count == 0)
        out->count = 1;
}

/* A stratum for each GPU that both sides used; one of all values where a GPU is unknown. None: no GPU in
 * common. */
static void pool(const struct turns_runs *base, const struct turns_runs *now, const struct delta *d,
                 struct strata *out)
{
    struct places a, b;
    size_t most_a = count_tests(base) + 1, most_b = count_tests(now) + 1;
    places_of_side(base, d, &a);
    places_of_side(now, d, &b);
    bool unknown = !a.device[0] || !b.device[0];
    if (unknown)
        b = (struct places){.count = 1};
    *out = (struct strata){.items = xcalloc(b.count, sizeof *out->items),
                           .room = xmalloc(b.count * (most_a + most_b) * sizeof *out->room)};
    double *room = out->room;
    for (size_t i = 0; i < b.count; i++) {
        struct stratum *s = &out->items[out->count];
        if (!unknown && !places_have(&a, b.device[i]))
            continue;
        *s = (struct stratum){.device = b.device[i], .base = room, .now = room + most_a};
        room += most_a + most_b;
        s->base_n = values_on(base, d, s->device, s->base);
        s->now_n = values_on(now, d, s->device, s->now);
        out->count++;
    }
    strata_pool(out);
}

/* Of any two of the runs: each is held against the first. */
static enum reason_code find_unlike(const struct turns_runs *base, const struct turns_runs *now,
                                    const struct delta *d)
{
    const struct run_data *first = base->count ? base->items[0] : NULL;
    const struct cell *of_first = first ? cell_of(first, d) : NULL;
    enum reason_code why = REASON_NONE;
    for (size_t i = 0; first && !why && i < base->count + now->count; i++) {
        const struct run_data *run = i < base->count ? base->items[i] : now->items[i - base->count];
        const struct cell *cell = cell_of(run, d);
        why = work_changed(first, of_first, run, cell)
                  ? REASON_OTHER_WORK
                  : windows_differ(d->metric, first, of_first, run, cell);
    }
    return why;
}

void turns_judge(const struct turns_runs *base, const struct turns_runs *now, const struct compare_options *o,
                 struct delta *d)
{
    AUTO(strata_release) struct strata strata = {0};
    struct pair v = {0};
    pool(base, now, d, &strata);
    if (strata.count) {
        const struct stratum *s = &strata.items[0];
        v = (struct pair){.base = s->base, .base_n = s->base_n, .now = s->now, .now_n = s->now_n};
    }
    turns_judge_values(&v, d->metric, o, d);
    enum reason_code why = strata.count ? find_unlike(base, now, d) : REASON_APART;
    if (why == REASON_APART || (why && v.base_n && v.now_n)) {
        d->verdict = VERDICT_NOISY;
        d->reason = why;
    }
}

static bool measured(const struct run_data *const *runs, size_t n, const struct delta *d)
{
    for (size_t i = 0; i < n; i++) {
        const struct cell *c = cell_of(runs[i], d);
        if (c && c->n[d->metric] > 0)
            return true;
    }
    return false;
}

/* The rounds in which both sides measured the cell; the last one if there is none. How many runs of a side
 * they are. */
static size_t keep_rounds(const struct turns_runs *base, const struct turns_runs *now, size_t each,
                          const struct delta *d, const struct run_data **of_base,
                          const struct run_data **of_now)
{
    size_t n = 0;
    for (size_t i = 0; i + each <= base->count; i += each) {
        bool whole = measured(base->items + i, each, d) && measured(now->items + i, each, d);
        if (!whole && (n > 0 || i + each < base->count))
            continue;
        memcpy(of_base + n, base->items + i, each * sizeof *of_base);
        memcpy(of_now + n, now->items + i, each * sizeof *of_now);
        n += each;
    }
    return n;
}

void turns_judge_rounds(const struct turns_runs *base, const struct turns_runs *now, size_t each,
                        const struct compare_options *o, struct delta *d)
{
    AUTO_FREE const struct run_data **of_base = xmalloc(2 * base->count * sizeof *of_base);
    const struct run_data **of_now = of_base + base->count;
    size_t n = keep_rounds(base, now, each, d, of_base, of_now);
    const struct turns_runs a = {of_base, n}, b = {of_now, n};
    turns_judge(&a, &b, o, d);
}
