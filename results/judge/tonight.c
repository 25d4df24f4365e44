#include "results/judge/tonight.h"

#include "results/judge/common_factor.h"
#include "results/judge/judge_nights.h"
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

/* NULL if too few nights measured the cell. */
static const struct night_cell *enough_nights(const struct tonight *t, const char *variant, int context)
{
    const struct night_cell *c = nights_find_cell(&t->nights, variant, context);
    return c && c->count >= t->o->history_min ? c : NULL;
}

static bool is_control(const struct tonight *t, const struct night_cell *c, const struct level *l,
                       const struct cell *now)
{
    uint64_t code = variant_code(&t->now->variants[now->variant]);
    return code && nights_share_of_code(c, l, code) >= control_share;
}

/* The common factor of a run's cells about the nights' levels. */
static struct common_factor factor_about_levels(const struct tonight *t, const struct run_data *run,
                                                struct common_cell *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *cell = &run->cells[i];
        const struct night_cell *c = is_measured(cell, t->metric)
                                         ? enough_nights(t, run->variants[cell->variant].name, cell->context)
                                         : NULL;
        struct level l = c ? nights_level(c) : (struct level){0};
        if (!l.known)
            continue;
        rows[n++] = (struct common_cell){.x = log(cell->median[t->metric]) - l.u,
                                         .control = run == t->now && is_control(t, c, &l, cell),
                                         .variant = cell->variant};
    }
    return common_factor_of(rows, n, t->nights.pooled.u);
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
        const struct night_cell *c = enough_nights(t, t->now->variants[now->variant].name, now->context);
        if (!c)
            continue;
        struct level l = nights_base_level(c, t->o->base_runs, t->o->n_base_runs);
        if (l.known)
            scratch[n++] = nights_base_factor(&t->nights, c, &l);
    }
    return stats_median(scratch, n);
}

static bool device_differs(const struct tonight *t, uint64_t before)
{
    return before && t->device && before != t->device;
}

/* Since the base: only where it can be told from a drift of every cell's own, which the cells' verdicts show.
 */
static void find_shift_since_base(struct tonight *t, const struct common_factor *f, double error,
                                  double freedom, double *scratch)
{
    bool other_device = t->base && device_differs(t, run_device(t->base));
    double then = factor_of_base(t, scratch);
    if (!t->base || isnan(then) || !(f->from_controls || other_device))
        return;
    double change = f->log - then, p = stats_t_p(change / error, freedom);
    if (fabs(change / error) <= t->o->z_limit || fabs(expm1(change)) < t->o->regression)
        return;
    describe_shift(t, f, change);
    t->shift.found = t->shift.since_base = true;
    t->shift.p = p;
    t->shift.device_changed = other_device;
}

static void find_shift(struct tonight *t, const struct common_factor *f, double *scratch)
{
    double freedom, error = common_factor_error(&t->nights, &t->factor_level, f->cells, &freedom);
    double change = f->log - t->factor_level.y;
    describe_shift(t, f, change);
    t->shift.p = stats_t_p(change / error, freedom);
    t->shift.device_changed = device_differs(t, nights_device(&t->nights));
    t->shift.found = fabs(change / error) > t->o->z_limit && fabs(expm1(change)) >= t->o->practical;
    t->removed = true;
    if (t->shift.found && !f->separable) { /* one variant's change: its cells say so themselves */
        t->shift = (struct common_shift){.device_changed = t->shift.device_changed};
        t->removed = false;
    } else if (!t->shift.found)
        find_shift_since_base(t, f, error, freedom, scratch);
}

static int read_nights(struct tonight *t, struct err *err)
{
    size_t cells = t->now->n_cells + (t->base ? t->base->n_cells : 0) + 1;
    struct common_cell *rows = calloc(cells, sizeof *rows);
    double *scratch = calloc(cells, sizeof *scratch);
    t->shift.device_changed = device_differs(t, nights_device(&t->nights));
    if (rows && scratch) {
        struct common_factor f = factor_about_levels(t, t->now, rows);
        t->factor_level = nights_factor_level(&t->nights);
        t->factor = f.log;
        if (f.known)
            find_shift(t, &f, scratch);
        struct common_factor base =
            t->base ? factor_about_levels(t, t->base, rows) : (struct common_factor){0};
        t->base_factor = base.known ? base.log : NAN;
    }
    bool enough = rows && scratch;
    free(rows);
    free(scratch);
    return enough ? 0 : err_set(err, ERR_INTERNAL, "no memory for the comparison");
}

/* Relative standard error of a cell's median by its repetitions; 0 if unknown. */
static double cell_error(const struct run_data *run, const struct cell *c, enum metric m, double *values)
{
    size_t n = run_data_values(run, c, m, values);
    double error = n > 1 ? stats_sd(values, n) * stats_median_error(n) / c->median[m] : 0;
    return isfinite(error) ? error : 0;
}

static size_t pair_rows(const struct tonight *t, struct common_cell *rows, double *errors, double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < t->now->n_cells; i++) {
        const struct cell *now = &t->now->cells[i], *base = base_cell(t, now);
        if (!is_measured(now, t->metric) || !is_measured(base, t->metric))
            continue;
        uint64_t code = variant_code(&t->now->variants[now->variant]);
        rows[n] =
            (struct common_cell){.x = log(now->median[t->metric] / base->median[t->metric]),
                                 .control = code && code == variant_code(&t->base->variants[base->variant]),
                                 .variant = now->variant};
        errors[n++] =
            hypot(cell_error(t->now, now, t->metric, values), cell_error(t->base, base, t->metric, values));
    }
    return n;
}

/* Two runs alone: nobody knows how much nights differ, so that only what exceeds the threshold is a finding.
 */
static void find_pair_factor(struct tonight *t, const struct common_cell *rows, size_t n, double scale)
{
    struct common_factor f = common_factor_of(rows, n, scale);
    if (!f.known || !f.separable)
        return;
    t->pair_factor = f.log;
    if (t->shift.known)
        return;
    describe_shift(t, &f, f.log);
    t->shift.since_base = true;
    t->shift.p = NAN;
    t->shift.device_changed = device_differs(t, run_device(t->base));
    t->shift.found = fabs(expm1(f.log)) >= t->o->regression;
}

static int read_pair(struct tonight *t, struct err *err)
{
    struct common_cell *rows = calloc(t->now->n_cells + 1, sizeof *rows);
    double *errors = calloc(t->now->n_cells + 1, sizeof *errors);
    double *values = calloc(t->now->n_tests + t->base->n_tests + 1, sizeof *values);
    bool enough = rows && errors && values;
    if (enough) {
        size_t n = pair_rows(t, rows, errors, values);
        find_pair_factor(t, rows, n, n ? stats_median(errors, n) : 0);
    }
    free(rows);
    free(errors);
    free(values);
    return enough ? 0 : err_set(err, ERR_INTERNAL, "no memory for the comparison");
}

int tonight_open(struct tonight *t, const struct run_data *base, const struct run_data *now,
                 const struct history *history, enum metric m, const struct compare_options *o,
                 struct err *err)
{
    static const struct history none;
    *t = (struct tonight){
        .base = base, .now = now, .o = o, .metric = m, .device = run_device(now), .base_factor = NAN};
    if (nights_model(history ? history : &none, m, &t->nights, err) != 0)
        return -1;
    if (metric_info(m)->exact)
        return 0;
    int rc = t->nights.n_cells ? read_nights(t, err) : 0;
    if (rc == 0 && base && !o->same_session)
        rc = read_pair(t, err);
    if (rc != 0)
        tonight_release(t);
    return rc;
}

void tonight_release(struct tonight *t)
{
    nights_model_release(&t->nights);
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
    bool one_finding = t->shift.from_controls || (t->shift.since_base && t->shift.found) ||
                       (t->base && device_differs(t, run_device(t->base)));
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

void tonight_expect(const struct tonight *t, const char *variant, const struct cell *base,
                    const struct cell *now, struct evidence *e, struct delta *d)
{
    struct expectation *x = &e->expected;
    bool exact = metric_info(t->metric)->exact;
    *x = (struct expectation){.value = NAN, .common = 1, .drifted = NAN, .current = NAN};
    e->nights = &t->nights;
    e->cell = nights_find_cell(&t->nights, variant, now->context);
    e->common = exp(t->pair_factor);
    const struct night_cell *c = exact ? NULL : enough_nights(t, variant, now->context);
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
        x->other_device = nights_on_other_device(c, &level, t->device);
        return;
    }
    struct level then = nights_base_level(c, t->o->base_runs, t->o->n_base_runs);
    if (then.known) {
        expect_base(t, &then, x);
        expect_current(t, &level, &then, nights_on_other_device(c, &level, t->device), x);
        x->other_device = nights_on_other_device(c, &then, t->device);
    } else if (is_measured(base, t->metric))
        expect_run(t, base->median[t->metric], x);
}
