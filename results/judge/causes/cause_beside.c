#include "results/judge/causes/cause_beside.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void beside_release(struct beside *b)
{
    free(b->code);
    free(b->of_device);
    free(b->clock);
    *b = (struct beside){0};
}

static const struct history_series *clocks_of(const struct causes_input *in, const struct delta *d)
{
    return in->clocks ? history_find(in->clocks, d->variant, d->context, METRIC_SCLK_MHZ) : NULL;
}

static void fill_one(struct beside *b, const struct causes_input *in, const struct delta *d, size_t i)
{
    b->code[i] = cause_code_state(b->before->run, in->now.run, d->variant, &b->of_device[i]);
    const struct night_cell *cell = in->nights ? nights_find_cell(in->nights, d->variant, d->context) : NULL;
    const struct level level =
        cell && d->reference.kind == REFERENCE_LEVEL ? nights_level(cell) : (struct level){0};
    const struct clock_nights nights = {
        .cell = cell, .clocks = clocks_of(in, d), .level = level.known ? &level : NULL};
    clock_part_of(b->before, &in->now, d->variant, d->context, d->metric, &nights, &b->clock[i]);
}

void beside_fill(struct beside *b, const struct causes_input *in, const struct comparison *c,
                 const struct cause_run *before)
{
    if (b->before == before)
        return;
    beside_release(b);
    b->code = xcalloc(c->count + 1, sizeof *b->code);
    b->of_device = xcalloc(c->count + 1, sizeof *b->of_device);
    b->clock = xcalloc(c->count + 1, sizeof *b->clock);
    b->before = before;
    b->count = c->count;
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].metric == c->primary)
            fill_one(b, in, &c->deltas[i], i);
}

double slower_by(enum metric m, double ratio)
{
    double change = ratio > 0 ? log(ratio) : (double)NAN;
    return metric_info(m)->better == METRIC_MORE ? -change : change;
}

static bool is_control(const struct beside *b, const struct comparison *c, size_t i, const struct delta *d,
                       bool other_variants)
{
    const struct delta *e = &c->deltas[i];
    return e != d && e->metric == c->primary && b->code[i] == CAUSE_CODE_SAME && !e->doubts.otherwise &&
           e->now.present && e->base.present && !(other_variants && d && strcmp(e->variant, d->variant) == 0);
}

bool controls_stayed(const double *moves, size_t n, double change)
{
    if (n < CONTROLS_LEAST)
        return false;
    double median = stats_median(moves, n), spread = 1.4826 * stats_mad(moves, n);
    double together = median * (change > 0 ? 1 : -1) + 2 * spread * stats_median_error(n);
    return together < fabs(change) / 2;
}

/* A change of status has no size, so a control counts as unmoved if it works on both sides. */
static bool still_works(const struct delta *e)
{
    return e->now.status == STATUS_OK && e->base.status == STATUS_OK;
}

struct controls beside_controls(const struct beside *b, const struct comparison *c, const struct delta *d,
                                double change, bool other_variants)
{
    AUTO_FREE double *moves = xcalloc(c->count + 1, sizeof *moves);
    size_t working = 0;
    struct controls out = {0};
    for (size_t i = 0; i < c->count; i++) {
        if (!is_control(b, c, i, d, other_variants))
            continue;
        double move = slower_by(c->primary, c->deltas[i].estimate.ratio);
        working += still_works(&c->deltas[i]);
        if (!isfinite(move))
            continue;
        moves[out.count++] = move;
        out.moved += move / change > 0;
    }
    out.median = stats_median(moves, out.count);
    out.held = isnan(change) ? working >= CONTROLS_LEAST : controls_stayed(moves, out.count, change);
    return out;
}

bool beside_whole_variant(const struct comparison *c, const struct delta *d, double change)
{
    size_t cells = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *e = &c->deltas[i];
        if (e->metric != c->primary || strcmp(e->variant, d->variant) != 0)
            continue;
        if (e->verdict == VERDICT_UNCHANGED)
            return false;
        bool changed = verdict_is_slower(e->verdict) || e->verdict == VERDICT_IMPROVED;
        if (changed && slower_by(e->metric, e->estimate.ratio) / change < 0)
            return false;
        cells += changed || e->verdict == d->verdict;
    }
    return cells >= 2;
}

static int by_part(const void *a, const void *b)
{
    const struct clock_part *x = *(const struct clock_part *const *)a,
                            *y = *(const struct clock_part *const *)b;
    return (x->explained > y->explained) - (x->explained < y->explained);
}

const struct clock_part *beside_clock(const struct beside *b, const struct comparison *c,
                                      const struct delta *own)
{
    AUTO_FREE const struct clock_part **parts = xcalloc(b->count + 1, sizeof *parts);
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->clock[i].known && &c->deltas[i] != own)
            parts[n++] = &b->clock[i];
    if (n == 0)
        return NULL;
    qsort(parts, n, sizeof *parts, by_part);
    return parts[n / 2];
}

struct beside_tests {
    size_t with, without; /* tests with and without processes of others */
    double time_with, time_without;
    double most; /* the median number of processes */
};

static struct beside_tests tests_beside(const struct run_data *r, const struct delta *d)
{
    const struct cell *cell = run_data_cell(r, d->variant, d->context);
    size_t count = cell ? cell->count : 0, n[] = {0, 0};
    AUTO_FREE double *x = xcalloc(3 * count + 1, sizeof *x);
    double *time[] = {x, x + count}, *seen = x + 2 * count;
    for (size_t i = 0; i < count; i++) {
        const struct run_test *t = &r->tests[cell->first + i];
        if (t->warmup || t->activity.neighbours == RUN_UNKNOWN ||
            (t->status != STATUS_OK && d->verdict != VERDICT_BROKEN && d->verdict != VERDICT_FIXED))
            continue;
        int with = t->activity.neighbours > 0;
        seen[n[0] + n[1]] = t->activity.neighbours;
        time[with][n[with]++] = t->value[d->metric];
    }
    return (struct beside_tests){.without = n[0],
                                 .with = n[1],
                                 .time_without = stats_median(time[0], n[0]),
                                 .time_with = stats_median(time[1], n[1]),
                                 .most = stats_median(seen, n[0] + n[1])};
}

enum neighbours cell_neighbours(const struct run_data *before, const struct run_data *now,
                                const struct delta *d, double change, double *was, double *is)
{
    bool better = d->verdict == VERDICT_FIXED || change < 0;
    struct beside_tests a = tests_beside(better ? now : before, d),
                        b = tests_beside(better ? before : now, d);
    *was = better ? b.most : a.most;
    *is = better ? a.most : b.most;
    bool known = a.with + a.without > 0 && b.with + b.without > 0;
    if (!known || a.with > 0 || 2 * b.with < b.with + b.without)
        return NEIGHBOURS_NONE;
    if (b.with < 2 || b.without < 2 || !isfinite(change))
        return NEIGHBOURS_COINCIDE;
    double effect = slower_by(d->metric, b.time_with / b.time_without) / fabs(change);
    if (effect < 0.25)
        return NEIGHBOURS_HARMLESS;
    return effect >= 0.5 ? NEIGHBOURS_ESTABLISHED : NEIGHBOURS_COINCIDE;
}
