#include "results/judge/tonight.h"

#include "common/base/alloc.h"
#include "results/judge/judge_nights.h"
#include "results/judge/nights/places.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the cells of a run lie about the levels of the nights: one row for each cell on each of its GPUs. */
struct rows {
    const struct run_data *run;
    bool since_base; /* the rows are about the level of the base instead of the newest one */
    struct common_cell *items;
    double *values; /* scratch */
    size_t n;
    size_t native, foreign; /* how many rows of either kind were found; not all of them may count */
};

static struct level level_of(const struct tonight *t, const struct rows *r, const struct night_cell *c)
{
    if (!c)
        return (struct level){0};
    return r->since_base ? nights_base_level(c, t->o->base_runs, t->o->n_base_runs) : nights_level(c);
}

/* Adds either the rows whose level was measured on another GPU (foreign) or the others. */
static void add_rows(const struct tonight *t, struct rows *r, const struct cell *cell, bool foreign)
{
    struct places p;
    places_of(r->run, cell, t->metric, &p);
    for (size_t k = 0; k < p.count; k++) {
        const struct night_cell *c = tonight_enough_nights(t, r->run, cell, p.device[k]);
        struct level l = level_of(t, r, c);
        if (!l.known || nights_on_other_device(c, &l, p.device[k]) != foreign)
            continue;
        if (!r->since_base && tonight_standing(c)->open)
            continue; /* What is open says nothing of tonight, but its card may have differed since the base.
                       */
        size_t count = places_values(r->run, cell, t->metric, p.device[k], r->values);
        r->items[r->n++] =
            (struct common_cell){.x = log(stats_median(r->values, count)) - l.u,
                                 .control = r->run == t->now && tonight_is_control(t, c, &l, cell),
                                 .variant = cell->variant,
                                 .cell = (size_t)(cell - r->run->cells),
                                 .device = foreign ? 0 : p.device[k]};
    }
}

/* Cells that moved to a GPU without nights of its own count only if too few others are left to tell. */
static void find_rows(const struct tonight *t, struct rows *r)
{
    for (int foreign = 0; foreign < 2; foreign++) {
        size_t before = r->n;
        for (size_t i = 0; i < r->run->n_cells; i++)
            if (tonight_is_measured(&r->run->cells[i], t->metric))
                add_rows(t, r, &r->run->cells[i], foreign);
        *(foreign ? &r->foreign : &r->native) = r->n - before;
    }
    if (r->foreign <= r->native || r->native >= COMMON_CELLS_MIN)
        r->n = r->native;
}

static bool is_worse(const struct tonight *t, double log_ratio)
{
    return (log_ratio > 0) == (metric_info(t->metric)->better == METRIC_LESS);
}

static void describe_shift(struct tonight *t, const struct common_factor *f, double log_ratio)
{
    t->shift.known = true;
    t->shift.ratio = exp(log_ratio);
    t->shift.worse = is_worse(t, log_ratio);
    t->shift.from_controls = f->from_controls;
    t->shift.cells = f->cells;
    t->shift.agree = f->agree;
    t->shift.controls = f->controls;
}

/* The median over the cells of what the factor was in the base's nights; NaN if the base is none of them. */
static double factor_of_base(const struct tonight *t, double *scratch)
{
    size_t n = 0;
    if (t->base_is_newer)
        return t->factor_level.y;
    for (size_t i = 0; i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i];
        struct places p;
        places_of(t->now, now, t->metric, &p);
        const struct night_cell *c = tonight_enough_nights(t, t->now, now, p.device[0]);
        if (!c)
            continue;
        struct level l = nights_base_level(c, t->o->base_runs, t->o->n_base_runs);
        if (l.known)
            scratch[n++] = nights_base_factor(&t->nights, c, &l);
    }
    return stats_median(scratch, n);
}

/* Whether most cells that both runs measured are on a GPU now that the base was not measured on. */
static void find_base_moved(struct tonight *t)
{
    size_t moved = 0, all = 0;
    for (size_t i = 0; t->base && i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i], *base = tonight_base_cell(t, now);
        struct strata s;
        if (!tonight_is_measured(now, t->metric) || !tonight_is_measured(base, t->metric))
            continue;
        strata_of(t->base, base, t->now, now, t->metric, &s);
        all++;
        moved += s.items[0].moved;
        strata_release(&s);
    }
    t->base_moved = 2 * moved > all;
}

/* A factor since the base is reported only if it can be told from a drift of each cell by itself, which the
 * verdicts of the cells show. A gain on the newest nights does not hide what is still lost since the base. */
static void find_shift_since_base(struct tonight *t, const struct common_factor *f, double error,
                                  double freedom, double *scratch)
{
    double then = factor_of_base(t, scratch);
    if (!t->base || t->accepted || isnan(then) || !(f->from_controls || t->base_moved))
        return;
    double change = f->log - then, p = stats_t_p(change / error, freedom);
    if (fabs(change / error) <= t->o->z_limit || fabs(expm1(change)) < t->o->regression)
        return;
    if (t->shift.found && !is_worse(t, change))
        return;
    describe_shift(t, f, change);
    t->shift.found = t->shift.since_base = true;
    t->shift.p = p;
    t->shift.device_changed = t->base_moved;
}

static void find_shift(struct tonight *t, const struct common_factor *f, double *scratch)
{
    double freedom, error = common_factor_error(&t->nights, &t->factor_level, f->cells, &freedom);
    double change = f->log - t->factor_level.y;
    describe_shift(t, f, change);
    t->shift.p = stats_t_p(change / error, freedom);
    t->shift.device_changed = t->moved;
    t->shift.unusual = fabs(change / error) > t->o->z_limit;
    t->shift.found = t->shift.unusual && fabs(expm1(change)) >= t->o->practical;
    t->shift.since_base = t->base_is_newer;
    t->removed = true;
    bool split = !f->shared && fabs(expm1(change)) >= t->o->practical; /* the middle between two groups */
    if (split || (t->shift.found && !f->separable)) { /* one variant's change: its cells say so themselves */
        t->shift = (struct common_shift){.device_changed = t->shift.device_changed};
        t->removed = false;
    } else if (!t->shift.found || !t->shift.worse)
        find_shift_since_base(t, f, error, freedom, scratch);
}

/* The one GPU that all cells of the run were measured on; 0 if there are several, or if it is unknown. */
static uint64_t only_device(const struct run_data *run, enum metric m)
{
    uint64_t only = 0;
    for (size_t i = 0; i < run->n_cells; i++) {
        struct places p;
        places_of(run, &run->cells[i], m, &p);
        if (p.count > 1 || (only && p.device[0] && p.device[0] != only))
            return 0;
        only = p.device[0] ? p.device[0] : only;
    }
    return only;
}

static struct common_factor factor_of(struct tonight *t, const struct run_data *run, struct rows *r)
{
    r->run = run;
    r->n = 0;
    find_rows(t, r);
    if (run == t->now) {
        uint64_t before = nights_device(&t->nights), device = only_device(run, t->metric);
        bool any = r->native + r->foreign > 0;
        t->moved = any ? r->foreign > r->native : before && device && before != device;
        t->shift.device_changed = t->moved;
    }
    return common_factor_of(r->items, r->n, t->nights.pooled.u, t->factor_level.y);
}

/* The id of a GPU as the run's tests have it. */
static const char *name_of(const struct run_data *run, uint64_t device)
{
    for (size_t i = 0; i < run->n_cells; i++) {
        const char *name = places_name(run, &run->cells[i], device);
        if (*name)
            return name;
    }
    return "";
}

/* The finding about this GPU; NULL if there is none. */
static struct card_shift *finding_of(struct card_shifts *cards, const char *gpu)
{
    for (size_t i = 0; i < cards->count; i++)
        if (strcmp(cards->items[i].gpu, gpu) == 0)
            return &cards->items[i];
    return NULL;
}

/* Where a finding about a GPU belongs; NULL if another one stands. A GPU that was found to differ from the
 * nights before is not also reported as different from the base, unless it gained on the nights and is still
 * worse than the base. */
static struct card_shift *place_for(struct card_shifts *cards, const char *gpu, bool worse)
{
    struct card_shift *known = finding_of(cards, gpu);
    if (known)
        return worse && !known->worse ? known : NULL;
    return cards->count < CARD_SHIFTS_MAX ? &cards->items[cards->count++] : NULL;
}

static void report_cards(struct tonight *t, const struct own_factors *own, bool since_base)
{
    for (size_t i = 0; i < own->count; i++) {
        const struct own_factor *f = &own->items[i];
        const char *gpu = name_of(t->now, f->device);
        struct card_shift *s = place_for(&t->cards, gpu, is_worse(t, f->log));
        if (!s)
            continue;
        *s = (struct card_shift){.worse = is_worse(t, f->log),
                                 .from_controls = f->from_controls,
                                 .from_others = f->from_others,
                                 .since_base = since_base,
                                 .ratio = exp(f->log),
                                 .p = f->p,
                                 .cells = f->cells,
                                 .all = f->all};
        snprintf(s->gpu, sizeof s->gpu, "%s", gpu);
    }
}

static struct own_rules rules_of(const struct tonight *t)
{
    return (struct own_rules){.scale = t->nights.pooled.u,
                              .usual = t->factor_level.y,
                              .least = t->o->practical,
                              .z_limit = t->o->z_limit,
                              .nights = &t->nights};
}

/* Tonight's common factor, without the cards that differ by themselves. */
static struct common_factor factor_of_tonight(struct tonight *t, struct rows *r)
{
    const struct own_rules rules = rules_of(t);
    struct common_factor f = factor_of(t, t->now, r);
    if (t->moved)
        return f;
    f = own_factors_of(r->items, r->n, &rules, &t->own);
    report_cards(t, &t->own, false);
    return f;
}

static void find_cards_since_base(struct tonight *t, struct rows *r)
{
    const struct own_rules rules = rules_of(t);
    if (!t->base || t->moved || t->base_moved)
        return;
    r->run = t->now;
    r->since_base = true;
    r->n = 0;
    find_rows(t, r);
    own_factors_of(r->items, r->n, &rules, &t->own_since_base);
    report_cards(t, &t->own_since_base, true);
    r->since_base = false;
}

/* Whether what is factored out of the cells may be code that some of them came to share since the base. */
static void look_since_base(struct tonight *t, const struct common_factor *f, double *scratch)
{
    double freedom, error = common_factor_error(&t->nights, &t->factor_level, f->cells, &freedom);
    double then = factor_of_base(t, scratch), change = f->log - (isnan(then) ? t->base_factor : then);
    t->open_since_base = t->removed && !f->from_controls && fabs(change / error) > t->o->z_limit;
}

/* A base that was set since what all cells have in common changed has accepted that, as has who accepted it
 * by itself. */
static void find_usual_factor(struct tonight *t)
{
    struct level usual = nights_factor_level(&t->nights);
    const struct level accepted = nights_accepted_factor(&t->nights, &usual);
    t->accepted = accepted.known && usual.known;
    if (t->accepted)
        usual = accepted;
    const struct level base =
        nights_newer_factor(&t->nights, &usual, t->o->base_runs, t->base ? t->o->n_base_runs : 0);
    t->base_is_newer = base.known && usual.known;
    t->factor_level = t->base_is_newer ? base : usual;
}

static void read_nights(struct tonight *t)
{
    size_t most = t->now->n_tests + t->now->n_cells + (t->base ? t->base->n_tests + t->base->n_cells : 0);
    AUTO_FREE struct common_cell *items = xcalloc(most, sizeof *items);
    AUTO_FREE double *values = xcalloc(most, sizeof *values);
    struct rows r = {.items = items, .values = values};
    find_usual_factor(t);
    struct common_factor f = factor_of_tonight(t, &r);
    find_cards_since_base(t, &r);
    t->factor = f.log;
    if (f.known)
        find_shift(t, &f, values);
    tonight_find_uneven(t, values);
    struct common_factor base = t->base ? factor_of(t, t->base, &r) : (struct common_factor){0};
    t->base_factor = base.known ? base.log : NAN;
    if (t->base && f.known)
        look_since_base(t, &f, values);
}

/* Relative standard error of a cell's median by its repetitions; 0 if unknown. */
static double cell_error(const struct run_data *run, const struct cell *c, enum metric m, double *values)
{
    size_t n = run_data_values(run, c, m, values);
    double error = n > 1 ? stats_sd(values, n) * stats_median_error(n) / c->median[m] : 0;
    return isfinite(error) ? error : 0;
}

/* The logarithm of now / base. A cell that moved to an unknown GPU counts only if most cells have moved. */
static double pair_log(const struct tonight *t, const struct cell *base, const struct cell *now,
                       uint64_t *device)
{
    AUTO(strata_release) struct strata s = {0};
    strata_of(t->base, base, t->now, now, t->metric, &s);
    double x = strata_log_ratio(&s);
    *device = s.count == 1 && isfinite(x) ? s.items[0].device : 0;
    return isnan(x) && t->base_moved ? log(now->median[t->metric] / base->median[t->metric]) : x;
}

static size_t pair_rows(const struct tonight *t, struct common_cell *rows, double *errors, double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i], *base = tonight_base_cell(t, now);
        uint64_t device;
        if (!tonight_is_measured(now, t->metric) || !tonight_is_measured(base, t->metric))
            continue;
        double x = pair_log(t, base, now, &device);
        if (isnan(x))
            continue;
        bool otherwise = t->o->otherwise && t->o->otherwise[now->variant];
        uint64_t code = otherwise ? 0 : variant_code(&t->now->variants[now->variant]);
        rows[n] =
            (struct common_cell){.x = x,
                                 .control = code && code == variant_code(&t->base->variants[base->variant]),
                                 .variant = now->variant,
                                 .cell = (size_t)(now - t->now->cells),
                                 .device = device};
        errors[n++] =
            hypot(cell_error(t->now, now, t->metric, values), cell_error(t->base, base, t->metric, values));
    }
    return n;
}

/* Two runs alone do not tell how much nights differ, so only what exceeds the threshold is a finding. */
static void find_pair_factor(struct tonight *t, const struct common_cell *rows, size_t n, double scale)
{
    const struct own_rules rules = {.scale = scale, .least = t->o->regression, .z_limit = t->o->z_limit};
    struct common_factor f = own_factors_of(rows, n, &rules, &t->own_since_run);
    report_cards(t, &t->own_since_run, true);
    if (!f.known || !f.shared || !f.separable)
        return;
    t->pair_factor = f.log;
    t->pair_error = f.error;
    t->pair_is_open = !f.from_controls;
    if (t->shift.known)
        return;
    describe_shift(t, &f, f.log);
    t->shift.since_base = true;
    t->shift.p = NAN;
    t->shift.device_changed = t->base_moved;
    t->shift.found = fabs(expm1(f.log)) >= t->o->regression;
}

static void read_pair(struct tonight *t)
{
    AUTO_FREE struct common_cell *rows = xcalloc(t->now->n_cells, sizeof *rows);
    AUTO_FREE double *errors = xcalloc(t->now->n_cells, sizeof *errors);
    AUTO_FREE double *values = xcalloc(t->now->n_tests + t->base->n_tests, sizeof *values);
    size_t n = pair_rows(t, rows, errors, values);
    find_pair_factor(t, rows, n, n ? stats_median(errors, n) : 0);
}

void tonight_open(struct tonight *t, const struct run_data *base, const struct run_data *now,
                  const struct history *history, enum metric m, const struct compare_options *o)
{
    static const struct history none;
    *t = (struct tonight){.base = base, .now = now, .o = o, .metric = m, .base_factor = NAN};
    history_of_places(history ? history : &none, now, m, false, &t->seen);
    const struct nights_accepted accepted = {.runs = o->base_runs,
                                             .count = base ? o->n_base_runs : 0,
                                             .findings = o->accepted ? o->accepted->items : NULL,
                                             .n_findings = o->accepted ? o->accepted->count : 0};
    nights_model(&t->seen, m, &accepted, &t->nights);
    if (metric_info(m)->exact)
        return;
    find_base_moved(t);
    if (t->nights.n_cells)
        read_nights(t);
    if (base && !o->same_session)
        read_pair(t);
}

void tonight_release(struct tonight *t)
{
    nights_model_release(&t->nights);
    history_release(&t->seen);
}
