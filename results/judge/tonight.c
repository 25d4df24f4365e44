#include "results/judge/tonight.h"

#include "results/judge/judge_nights.h"
#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/places.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdlib.h>

/* A cell is a control if at least this share of the nights behind its level ran tonight's code. */
static const double control_share = 0.5;

static const struct cell *base_cell(const struct tonight *t, const struct cell *now)
{
    return t->base ? run_data_cell(t->base, t->now->variants[now->variant].name, now->context) : NULL;
}

static bool is_measured(const struct cell *c, enum metric m)
{
    return c && c->status == STATUS_OK && c->n[m] > 0 && c->median[m] > 0;
}

/* NULL if too few nights measured the cell, or none are seen from this GPU. */
static const struct night_cell *enough_nights(const struct tonight *t, const struct run_data *run,
                                              const struct cell *cell, uint64_t device)
{
    const struct night_cell *c =
        nights_find_on(&t->nights, run->variants[cell->variant].name, cell->context, device);
    return c && c->count >= t->o->history_min ? c : NULL;
}

static bool is_control(const struct tonight *t, const struct night_cell *c, const struct level *l,
                       const struct cell *now)
{
    uint64_t code = variant_code(&t->now->variants[now->variant]);
    return code && nights_share_of_code(c, l, code) >= control_share;
}

/* The cells of a run about the nights' levels, each on each of its GPUs. */
struct rows {
    const struct run_data *run;
    struct common_cell *items;
    double *values; /* scratch */
    size_t n;
    size_t native, foreign; /* found, of which not all may count */
};

/* foreign: only those whose level is of another GPU, else only the others. */
static void add_rows(const struct tonight *t, struct rows *r, const struct cell *cell, bool foreign)
{
    struct places p;
    places_of(r->run, cell, t->metric, &p);
    for (size_t k = 0; k < p.count; k++) {
        const struct night_cell *c = enough_nights(t, r->run, cell, p.device[k]);
        struct level l = c ? nights_level(c) : (struct level){0};
        if (!l.known || nights_on_other_device(c, &l, p.device[k]) != foreign)
            continue;
        size_t count = places_values(r->run, cell, t->metric, p.device[k], r->values);
        r->items[r->n++] = (struct common_cell){.x = log(stats_median(r->values, count)) - l.u,
                                                .control = r->run == t->now && is_control(t, c, &l, cell),
                                                .variant = cell->variant};
    }
}

/* Those that moved to a GPU that nobody knows count only where hardly any stayed. */
static void find_rows(const struct tonight *t, struct rows *r)
{
    for (int foreign = 0; foreign < 2; foreign++) {
        size_t before = r->n;
        for (size_t i = 0; i < r->run->n_cells; i++)
            if (is_measured(&r->run->cells[i], t->metric))
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
    t->shift.controls = f->controls;
}

/* The median over the cells of what the factor was in the base's nights; NaN if the base is none of them. */
static double factor_of_base(const struct tonight *t, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i];
        struct places p;
        places_of(t->now, now, t->metric, &p);
        const struct night_cell *c = enough_nights(t, t->now, now, p.device[0]);
        if (!c)
            continue;
        struct level l = nights_base_level(c, t->o->base_runs, t->o->n_base_runs);
        if (l.known)
            scratch[n++] = nights_base_factor(&t->nights, c, &l);
    }
    return stats_median(scratch, n);
}

/* Whether most cells that both runs measured are on a GPU now that the base cannot be brought to. */
static int find_base_moved(struct tonight *t, struct err *err)
{
    size_t moved = 0, all = 0;
    for (size_t i = 0; t->base && i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i], *base = base_cell(t, now);
        struct strata s;
        if (!is_measured(now, t->metric) || !is_measured(base, t->metric))
            continue;
        if (strata_of(t->base, base, t->now, now, t->metric, t->o->cards, &s, err) != 0)
            return -1;
        all++;
        moved += s.items[0].moved && !s.items[0].card.known;
        strata_release(&s);
    }
    t->base_moved = 2 * moved > all;
    return 0;
}

/* Since the base: only where it can be told from a drift of every cell's own, which the cells' verdicts show.
 */
static void find_shift_since_base(struct tonight *t, const struct common_factor *f, double error,
                                  double freedom, double *scratch)
{
    double then = factor_of_base(t, scratch);
    if (!t->base || isnan(then) || !(f->from_controls || t->base_moved))
        return;
    double change = f->log - then, p = stats_t_p(change / error, freedom);
    if (fabs(change / error) <= t->o->z_limit || fabs(expm1(change)) < t->o->regression)
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
    t->shift.found = fabs(change / error) > t->o->z_limit && fabs(expm1(change)) >= t->o->practical;
    t->removed = true;
    bool split = !f->shared && fabs(expm1(change)) >= t->o->practical; /* the middle between two groups */
    if (split || (t->shift.found && !f->separable)) { /* one variant's change: its cells say so themselves */
        t->shift = (struct common_shift){.device_changed = t->shift.device_changed};
        t->removed = false;
    } else if (!t->shift.found)
        find_shift_since_base(t, f, error, freedom, scratch);
}

/* Of all cells of a run at once; 0 if they have several, or it is unknown. */
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

static int read_nights(struct tonight *t, struct err *err)
{
    size_t most = t->now->n_tests + t->now->n_cells + (t->base ? t->base->n_tests + t->base->n_cells : 0) + 1;
    struct rows r = {.items = calloc(most, sizeof *r.items), .values = calloc(most, sizeof *r.values)};
    bool enough = r.items && r.values;
    if (enough) {
        t->factor_level = nights_factor_level(&t->nights);
        struct common_factor f = factor_of(t, t->now, &r);
        t->factor = f.log;
        if (f.known)
            find_shift(t, &f, r.values);
        struct common_factor base = t->base ? factor_of(t, t->base, &r) : (struct common_factor){0};
        t->base_factor = base.known ? base.log : NAN;
    }
    free(r.items);
    free(r.values);
    return enough ? 0 : err_set(err, ERR_INTERNAL, "no memory for the comparison");
}

/* Relative standard error of a cell's median by its repetitions; 0 if unknown. */
static double cell_error(const struct run_data *run, const struct cell *c, enum metric m, double *values)
{
    size_t n = run_data_values(run, c, m, values);
    double error = n > 1 ? stats_sd(values, n) * stats_median_error(n) / c->median[m] : 0;
    return isfinite(error) ? error : 0;
}

/* Cells that moved to a GPU that nobody knows count only where all have. */
static int pair_row(const struct tonight *t, const struct cell *base, const struct cell *now, double *x,
                    struct err *err)
{
    struct strata s;
    if (strata_of(t->base, base, t->now, now, t->metric, t->o->cards, &s, err) != 0)
        return -1;
    *x = strata_log_ratio(&s);
    if (isnan(*x) && t->base_moved)
        *x = log(now->median[t->metric] / base->median[t->metric]);
    strata_release(&s);
    return 0;
}

static int pair_rows(const struct tonight *t, struct common_cell *rows, double *errors, double *values,
                     size_t *n, struct err *err)
{
    *n = 0;
    for (size_t i = 0; i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i], *base = base_cell(t, now);
        double x;
        if (!is_measured(now, t->metric) || !is_measured(base, t->metric))
            continue;
        if (pair_row(t, base, now, &x, err) != 0)
            return -1;
        if (isnan(x))
            continue;
        uint64_t code = variant_code(&t->now->variants[now->variant]);
        rows[*n] =
            (struct common_cell){.x = x,
                                 .control = code && code == variant_code(&t->base->variants[base->variant]),
                                 .variant = now->variant};
        errors[(*n)++] =
            hypot(cell_error(t->now, now, t->metric, values), cell_error(t->base, base, t->metric, values));
    }
    return 0;
}

/* Two runs alone: nobody knows how much nights differ, so that only what exceeds the threshold is a finding.
 */
static void find_pair_factor(struct tonight *t, const struct common_cell *rows, size_t n, double scale)
{
    struct common_factor f = common_factor_of(rows, n, scale, 0);
    if (!f.known || !f.shared || !f.separable)
        return;
    t->pair_factor = f.log;
    if (t->shift.known)
        return;
    describe_shift(t, &f, f.log);
    t->shift.since_base = true;
    t->shift.p = NAN;
    t->shift.device_changed = t->base_moved;
    t->shift.found = fabs(expm1(f.log)) >= t->o->regression;
}

static int read_pair(struct tonight *t, struct err *err)
{
    struct common_cell *rows = calloc(t->now->n_cells + 1, sizeof *rows);
    double *errors = calloc(t->now->n_cells + 1, sizeof *errors);
    double *values = calloc(t->now->n_tests + t->base->n_tests + 1, sizeof *values);
    size_t n;
    int rc = rows && errors && values ? 0 : err_set(err, ERR_INTERNAL, "no memory for the comparison");
    if (rc == 0)
        rc = pair_rows(t, rows, errors, values, &n, err);
    if (rc == 0)
        find_pair_factor(t, rows, n, n ? stats_median(errors, n) : 0);
    free(rows);
    free(errors);
    free(values);
    return rc;
}

int tonight_open(struct tonight *t, const struct run_data *base, const struct run_data *now,
                 const struct history *history, enum metric m, const struct compare_options *o,
                 struct err *err)
{
    static const struct history none;
    *t = (struct tonight){.base = base, .now = now, .o = o, .metric = m, .base_factor = NAN};
    int rc = cards_align(history ? history : &none, now, o->cards, m, false, &t->seen, err);
    if (rc == 0)
        rc = nights_model(&t->seen, m, &t->nights, err);
    if (rc == 0 && !metric_info(m)->exact)
        rc = find_base_moved(t, err);
    if (rc == 0 && metric_info(m)->exact)
        return 0;
    if (rc == 0 && t->nights.n_cells)
        rc = read_nights(t, err);
    if (rc == 0 && base && !o->same_session)
        rc = read_pair(t, err);
    if (rc != 0)
        tonight_release(t);
    return rc;
}

void tonight_release(struct tonight *t)
{
    nights_model_release(&t->nights);
    history_release(&t->seen);
}

static void expect_level(const struct tonight *t, const struct level *l, struct expectation *x)
{
    x->against = REFERENCE_LEVEL;
    x->nights = l->nights;
    x->common = t->removed ? exp(t->factor - t->factor_level.y) : 1;
    x->value = t->removed ? exp(l->u + t->factor) : exp(l->y);
}

/* The base's nights. What was found to have happened to all cells tonight is not also each cell's drift. */
static void expect_base(const struct tonight *t, const struct level *l, struct expectation *x)
{
    bool one_finding = t->shift.from_controls || (t->shift.since_base && t->shift.found) || t->base_moved;
    expect_level(t, l, x);
    x->against = REFERENCE_BASE;
    x->common = t->removed ? exp(l->u + t->factor - l->y) : 1;
    if (t->removed && !one_finding)
        x->drifted = exp(l->y) * (t->shift.found ? t->shift.ratio : 1);
}

/* Where the level has changed since the base, as by an improvement that nobody made the base, a loss is one
 * even if the cell is still better than the base. */
static void expect_current(const struct tonight *t, const struct level *level, const struct level *base,
                           bool other_device, struct expectation *x)
{
    bool left = fabs(expm1(level->u - base->u)) >= t->o->practical;
    if (!left || other_device || level->nights < NIGHTS_LEVEL_MIN)
        return;
    x->current = t->removed ? exp(level->u + t->factor) : exp(level->y);
    x->current_common = t->removed ? exp(t->factor - t->factor_level.y) : 1;
    x->current_nights = level->nights;
}

/* A base that is none of the nights is a night of its own. */
static void expect_run(const struct tonight *t, double base, struct expectation *x)
{
    bool removed = t->removed && isfinite(t->base_factor);
    x->against = REFERENCE_RUN;
    x->nights = 1;
    x->common = removed ? exp(t->factor - t->base_factor) : 1;
    x->value = base * x->common;
}

/* Whether the level is of this GPU, and if not, what it takes. */
static void expect_card(const struct night_cell *c, const struct level *l, uint64_t device,
                        struct expectation *x)
{
    x->other_device = nights_on_other_device(c, l, device);
    x->card = nights_card_factor(c, l);
}

void tonight_expect(const struct tonight *t, const struct cell *base, const struct cell *now, uint64_t device,
                    struct evidence *e, struct delta *d)
{
    struct expectation *x = &e->expected;
    bool exact = metric_info(t->metric)->exact;
    *x = (struct expectation){.value = NAN, .common = 1, .drifted = NAN, .current = NAN};
    e->nights = &t->nights;
    e->cell = nights_find_on(&t->nights, t->now->variants[now->variant].name, now->context, device);
    e->common = exp(t->pair_factor);
    const struct night_cell *c = exact ? NULL : enough_nights(t, t->now, now, device);
    struct level level = c ? nights_level(c) : (struct level){0};
    if (!level.known)
        return;
    x->control = is_control(t, c, &level, now);
    x->raw = !t->removed;
    if (x->raw) /* a segment of u may span a step that all cells shared */
        level.y = level.u + t->factor_level.y;
    d->history_median = exp(level.y);
    if (!base) {
        expect_level(t, &level, x);
        expect_card(c, &level, device, x);
        return;
    }
    struct level then = nights_base_level(c, t->o->base_runs, t->o->n_base_runs);
    if (then.known) {
        expect_base(t, &then, x);
        expect_current(t, &level, &then, nights_on_other_device(c, &level, device), x);
        expect_card(c, &then, device, x);
    } else if (e->base_n > 0 && is_measured(base, t->metric)) {
        expect_run(t, stats_median(e->base, e->base_n), x);
        x->other_device = e->other_device;
        x->card = e->card;
    }
}
