/* The second half of tonight.h: what is known of a cell, and what it is expected at. */
#include "results/judge/tonight.h"

#include "common/base/alloc.h"
#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/places.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

#include <math.h>

/* A cell is a control if at least this share of the nights behind its level ran tonight's code. */
static const double control_share = 0.5;
/* A night so many scales above the level, as far as can be said afterwards, was a suspect. */
static const double suspect_scales = 3.5;

const struct cell *tonight_base_cell(const struct tonight *t, const struct cell *now)
{
    return t->base ? run_data_cell(t->base, t->now->variants[now->variant].name, now->context) : NULL;
}

bool tonight_is_measured(const struct cell *c, enum metric m)
{
    return c && c->status == STATUS_OK && c->n[m] > 0 && c->median[m] > 0;
}

const struct night_cell *tonight_enough_nights(const struct tonight *t, const struct run_data *run,
                                               const struct cell *cell, uint64_t device)
{
    const struct night_cell *c =
        nights_find_on(&t->nights, run->variants[cell->variant].name, cell->context, device);
    return c && c->count >= t->o->history_min ? c : NULL;
}

bool tonight_is_control(const struct tonight *t, const struct night_cell *c, const struct level *l,
                        const struct cell *now)
{
    uint64_t code = variant_code(&t->now->variants[now->variant]);
    bool otherwise = t->o->otherwise && t->o->otherwise[now->variant];
    return code && !otherwise && nights_share_of_code(c, l, code) >= control_share;
}

/* own: the logarithm of what the GPU differs by itself tonight, here and below. */
static void expect_level(const struct tonight *t, const struct level *l, double own, struct expectation *x)
{
    x->against = REFERENCE_LEVEL;
    x->nights = l->nights;
    x->common = t->removed ? exp(t->factor - t->factor_level.y) : 1;
    x->own = exp(own);
    x->value = x->own * (t->removed ? exp(l->u + t->factor) : exp(l->y));
}

/* Expects the level of the base's nights. What happened to all cells tonight is not also a drift of each. */
static void expect_base(const struct tonight *t, const struct level *l, double own, struct expectation *x)
{
    bool one_finding =
        t->shift.from_controls || (t->shift.since_base && t->shift.found) || t->base_moved || t->accepted;
    expect_level(t, l, own, x);
    x->against = REFERENCE_BASE;
    x->common = t->removed ? exp(l->u + t->factor - l->y) : 1;
    if (t->removed && !one_finding)
        x->drifted = x->own * exp(l->y) * (t->shift.found ? t->shift.ratio : 1);
}

/* Where the level has changed since the base, as by an improvement that nobody made the base, a loss is one
 * even if the cell is still better than the base. A base that is newer than the level's nights left it
 * itself. */
static void expect_current(const struct tonight *t, const struct night_cell *c, const struct level *level,
                           const struct level *base, bool other_device, double own, struct expectation *x)
{
    bool left = fabs(expm1(level->u - base->u)) >= t->o->practical && nights_are_since(c, level, base);
    if (!left || other_device || level->nights < NIGHTS_LEVEL_MIN)
        return;
    x->current_own = exp(own);
    x->current = x->current_own * (t->removed ? exp(level->u + t->factor) : exp(level->y));
    x->current_common = t->removed ? exp(t->factor - t->factor_level.y) : 1;
    x->current_nights = level->nights;
}

/* Whether the GPU's own factor may be due to code that only its cells run. */
static bool is_open(const struct own_factor *own)
{
    return own && !own->from_controls && !own->from_others;
}

/* A base that is none of the nights is a night of its own. */
static void expect_run(const struct tonight *t, double base, double own, struct expectation *x)
{
    bool removed = t->removed && isfinite(t->base_factor);
    x->against = REFERENCE_RUN;
    x->nights = 1;
    x->common = removed ? exp(t->factor - t->base_factor) : 1;
    x->own = exp(own);
    x->value = base * x->common * x->own;
}

/* What the logarithm of a value is without what all cells, or those of its GPU, have in common tonight. */
static double without_factors(const struct tonight *t, double value, double own)
{
    return log(value) - (t->removed ? t->factor : t->factor_level.y) - own;
}

const struct standing *tonight_standing(const struct night_cell *c)
{
    return &c->standing[c->count > c->foreign];
}

/* Where a cell is tonight about the level that the filter knows. */
struct about {
    const char *variant;
    double x, scale;
    bool open;
};

/* False if no level is known. values: scratch. */
static bool find_about(const struct tonight *t, const struct cell *now, double *values, struct about *a)
{
    struct places p;
    double level;
    if (!tonight_is_measured(now, t->metric))
        return false;
    places_of(t->now, now, t->metric, &p);
    const struct night_cell *c = tonight_enough_nights(t, t->now, now, p.device[0]);
    if (!c || !standing_level(tonight_standing(c), &level, &a->scale))
        return false;
    size_t n = places_values(t->now, now, t->metric, p.device[0], values);
    a->x = log(stats_median(values, n)) - own_factor_log(&t->own, p.device[0]) - t->nights.badness * level;
    a->variant = c->series->variant;
    a->open = tonight_standing(c)->open;
    return true;
}

void tonight_find_uneven(struct tonight *t, double *values)
{
    AUTO_FREE struct about *cells = xcalloc(t->now->n_cells + 1, sizeof *cells);
    AUTO_FREE struct common_cell *at_level = xcalloc(t->now->n_cells + 1, sizeof *at_level);
    struct standing_night night = {0};
    size_t known = 0, count = 0;
    bool agree;
    for (size_t i = 0; i < t->now->n_cells; i++)
        known += find_about(t, &t->now->cells[i], values, &cells[known]);
    for (size_t i = 0; i < known; i++)
        if (!cells[i].open)
            at_level[count++].x = cells[i].x;
    t->even_factor = nights_even_factor(&t->nights, t->nights.count, at_level, count, &agree);
    for (size_t i = 0; i < known; i++) {
        double apart = t->nights.badness * (cells[i].x - t->even_factor);
        standing_night_add(&night, cells[i].variant,
                           !cells[i].open && standing_is_worse(apart, cells[i].scale));
    }
    t->uneven = standing_night_is_uneven(&night);
}

static void set_since(const struct night_cell *c, size_t point, struct stand *out)
{
    out->stands = true;
    out->since = point < c->count ? c->points[point]->measured_at : 0;
}

/* Against a base: the newest nights that were even, and tonight if it is. */
static void look_since_value(const struct tonight *t, const struct night_cell *c, double level, size_t behind,
                             struct stand *out)
{
    size_t points[STANDING_LEVEL], n = 0, begins;
    if (!t->uneven)
        points[n++] = c->count;
    for (size_t i = c->count; i > c->foreign && n < STANDING_LEVEL; i--)
        if (!t->nights.nights[c->night[i - 1]].uneven)
            points[n++] = i - 1;
    for (size_t i = 0; i < n / 2; i++) {
        size_t last = points[n - 1 - i];
        points[n - 1 - i] = points[i];
        points[i] = last;
    }
    if (standing_is_worse_than(tonight_standing(c), points, n, level, behind, &begins))
        set_since(c, points[begins], out);
}

/* When the newest night was, if it was worse by itself and tonight keeps less than half of that; else 0. */
static int64_t gone_suspect(const struct tonight *t, const struct night_cell *c)
{
    struct standing s = *tonight_standing(c);
    double level, scale;
    if (s.n_apart > 0)
        s.n_apart--; /* a night is not judged by itself */
    if (c->count == c->foreign || s.open || !standing_level(&s, &level, &scale) ||
        !nights_has_newest(&t->nights, c))
        return 0;
    const struct history_point *last = c->points[c->count - 1];
    double then = c->worse[c->count - 1] - level, now = c->worse[c->count] - level;
    bool suspect = then > fmax(t->o->practical, suspect_scales * scale);
    return suspect && now < then / 2 ? last->measured_at : 0;
}

/* Whether tonight continues or completes a finding. */
static void look_whether_it_stands(const struct tonight *t, const struct night_cell *c,
                                   const struct evidence *e, double own, struct expectation *x)
{
    size_t since;
    x->since_level.uneven = x->since_value.uneven = t->uneven;
    c->worse[c->count] = t->nights.badness * (log(stats_median(e->now, e->now_n)) - t->even_factor - own);
    if (standing_would_be_open(tonight_standing(c), c->count, t->uneven, &since, &x->since_level.back))
        set_since(c, since, &x->since_level);
    else if (!tonight_standing(c)->open)
        x->since_level.nights = standing_nights_to_open(tonight_standing(c), c->worse, c->count);
    x->since_level.gone = gone_suspect(t, c);
    if (x->against == REFERENCE_LEVEL)
        x->since_value = x->since_level;
    else if (x->value > 0)
        look_since_value(t, c, t->nights.badness * without_factors(t, x->value, own), x->nights,
                         &x->since_value);
}

void tonight_expect(const struct tonight *t, const struct cell *base, const struct cell *now, uint64_t device,
                    struct evidence *e, struct delta *d)
{
    struct expectation *x = &e->expected;
    bool exact = metric_info(t->metric)->exact;
    *x = (struct expectation){.value = NAN, .common = 1, .own = 1, .drifted = NAN, .current = NAN};
    e->nights = &t->nights;
    e->cell = nights_find_on(&t->nights, t->now->variants[now->variant].name, now->context, device);
    e->common = exp(t->pair_factor);
    e->common_error = t->pair_error;
    e->factor_is_open = t->pair_is_open;
    e->own = exp(own_factor_log(&t->own_since_run, device));
    e->own_is_open = is_open(own_factor_of(&t->own_since_run, device));
    double own = own_factor_log(&t->own, device);
    const struct night_cell *c = exact ? NULL : tonight_enough_nights(t, t->now, now, device);
    struct level level = c ? nights_level(c) : (struct level){0};
    if (!level.known)
        return;
    x->factor_is_open = t->removed && (t->shift.found || t->shift.unusual) && !t->shift.from_controls;
    x->own_is_open = is_open(own_factor_of(&t->own, device));
    x->control = tonight_is_control(t, c, &level, now);
    x->raw = !t->removed;
    if (x->raw) /* a segment of u may span a step that all cells shared */
        level.y = level.u + t->factor_level.y;
    d->reference.history_median = exp(level.y);
    struct level then = nights_base_level(c, t->o->base_runs, base ? t->o->n_base_runs : 0);
    if (!base || nights_accepted_since(c, &then)) {
        expect_level(t, &level, own, x);
        x->other_device = nights_on_other_device(c, &level, device);
        look_whether_it_stands(t, c, e, own, x);
        return;
    }
    if (t->base_is_newer)
        then.y = then.u + t->factor_level.y;
    x->factor_is_open |= t->open_since_base;
    if (then.known) {
        expect_base(t, &then, own_factor_log(&t->own_since_base, device), x);
        x->own_is_open = is_open(own_factor_of(&t->own_since_base, device));
        expect_current(t, c, &level, &then, nights_on_other_device(c, &level, device), own, x);
        x->other_device = nights_on_other_device(c, &then, device);
    } else if (e->base_n > 0 && tonight_is_measured(base, t->metric)) {
        const struct own_factor *of_run = own_factor_of(&t->own_since_run, device);
        double since = of_run ? own_factor_log(&t->own_since_run, device) : own;
        x->own_is_open = of_run ? is_open(of_run) : x->own_is_open;
        expect_run(t, stats_median(e->base, e->base_n), since, x);
        x->other_device = e->other_device;
    }
    if (x->against != REFERENCE_NONE)
        look_whether_it_stands(t, c, e, own, x);
}
