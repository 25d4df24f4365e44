#include "results/judge/nights/own_factor.h"

#include "common/base/alloc.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* The share of a card's cells that have to show at least half of its factor. */
static const double nearly_all = 0.8;
/* Cells agree on a factor if they lie within so many scales of it, and at least within this. Most have to. */
static const double agree_scales = 3, agree_least = 0.01;
/* How often, on a still night, any card may be found to differ. */
static const double alpha = 0.01;

struct searching {
    const struct common_cell *cells;
    size_t n;
    const struct own_rules *rules;
    const struct own_factors *found;
    size_t devices;
    struct common_cell *rest; /* scratch, as the next */
    double *x;
};

const struct own_factor *own_factor_of(const struct own_factors *own, uint64_t device)
{
    for (size_t i = 0; device && i < own->count; i++)
        if (own->items[i].device == device)
            return &own->items[i];
    return NULL;
}

double own_factor_log(const struct own_factors *own, uint64_t device)
{
    const struct own_factor *f = own_factor_of(own, device);
    return f ? f->log : 0;
}

/* What the cells of all other cards have in common, without the cards that have a factor of their own. */
static struct common_factor rest_of(const struct searching *s, uint64_t device)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!own_factor_of(s->found, s->cells[i].device) && (!device || s->cells[i].device != device))
            s->rest[n++] = s->cells[i];
    return common_factor_of(s->rest, n, s->rules->scale, s->rules->usual);
}

/* Collects the values of a card: those of its controls alone, or those of all its cells. */
static size_t values_of(const struct searching *s, uint64_t device, bool controls)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->cells[i].device == device && isfinite(s->cells[i].x) && (s->cells[i].control || !controls))
            s->x[n++] = s->cells[i].x;
    return n;
}

static bool is_near(const struct searching *s, double x, double factor)
{
    return fabs(x - factor) <= fmax(agree_least, agree_scales * s->rules->scale);
}

/* A cell that changed by more than its card shows the card's factor, too. */
static bool shows(double x, double factor, double rest)
{
    return (x - rest) / (factor - rest) > 0.5;
}

static bool several_show(const struct searching *s, uint64_t device, double factor, double rest)
{
    const struct common_cell *first = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct common_cell *c = &s->cells[i];
        if (c->device != device || !isfinite(c->x) || !shows(c->x, factor, rest))
            continue;
        if (first && first->variant != c->variant)
            return true;
        first = c;
    }
    return false;
}

/* Where the cells of each night lay about their levels: those of the card, and those of the others. */
struct night_rows {
    double *values; /* n_cells for each night: the card's from the front, the others' from the back */
    size_t *card, *others;
    double *scratch;
};

static void add_segment(const struct night_cell *c, size_t from, size_t to, bool of_card, size_t cells,
                        struct night_rows *r)
{
    size_t n = 0;
    for (size_t j = from; j < to; j++)
        r->scratch[n++] = c->u[j];
    double level = stats_median(r->scratch, n);
    for (size_t j = from; j < to; j++) {
        size_t t = c->night[j];
        double *row = r->values + t * cells;
        if (c->levels.odd[j] || c->points[j]->device != c->series->device)
            continue;
        row[of_card ? r->card[t]++ : cells - ++r->others[t]] = c->u[j] - level;
    }
}

/* By how much the card and the others moved apart, night by night. Returns how many nights there are. */
static size_t moves_of(const struct nights *n, uint64_t device, struct night_rows *r)
{
    size_t nights = 0, cells = n->n_cells;
    for (size_t k = 0; k < cells; k++) {
        const struct night_cell *c = &n->cells[k];
        for (size_t i = 0, from, to; i < c->count; i = to) {
            changes_segment(&c->levels, i, &from, &to);
            add_segment(c, from, to, c->series->device == device, cells, r);
        }
    }
    for (size_t t = 0; t < n->count; t++) {
        const double *row = r->values + t * cells;
        if (r->card[t] >= OWN_CELLS_MIN && r->others[t] >= OWN_CELLS_MIN)
            r->scratch[nights++] =
                fabs(stats_median(row, r->card[t]) - stats_median(row + cells - r->others[t], r->others[t]));
    }
    return nights;
}

struct spread {
    double scale, nights;
};

/* How far the card by itself usually lies from its level, as the nights show. */
static struct spread spread_of_card(const struct nights *n, uint64_t device)
{
    AUTO_FREE double *values = xcalloc(n->count * n->n_cells + 1, sizeof *values);
    AUTO_FREE double *scratch = xcalloc(n->count + 1, sizeof *scratch);
    AUTO_FREE size_t *counts = xcalloc(2 * n->count + 1, sizeof *counts);
    struct night_rows r = {values, counts, counts + n->count, scratch};
    size_t nights = moves_of(n, device, &r);
    return (struct spread){.scale = scale_of_most(scratch, nights), .nights = (double)nights};
}

/* Computes how many standard errors the factor is, and its p. rest: cells of other cards. */
static double errors_of(const struct searching *s, const struct own_factor *f, size_t rest, double *p)
{
    const struct nights *n = s->rules->nights;
    double few = stats_median_error(f->all), many = stats_median_error(rest);
    *p = NAN;
    if (!n)
        return fabs(f->log) / fmax(s->rules->scale * hypot(few, many), SCALE_LEAST);
    struct spread card = spread_of_card(n, f->device);
    double night = fmax(fmax(card.scale, n->pooled.u * few), SCALE_LEAST);
    double level = night * fmin(1, stats_median_error((size_t)fmax(card.nights, 1)));
    double error = hypot(hypot(night, level), n->pooled.u * many);
    *p = stats_t_p(f->log / error, fmax(card.nights - 1, 0) + SCALE_PRIOR_LEAST);
    return fabs(f->log) / error;
}

/* Whether the same cell, and so the same code, was measured on a card that is as it was. */
static bool is_whole_elsewhere(const struct searching *s, const struct common_cell *c, double factor,
                               double rest)
{
    size_t elsewhere = 0, showing = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct common_cell *o = &s->cells[i];
        if (o->cell != c->cell || !o->device || o->device == c->device || !isfinite(o->x) ||
            own_factor_of(s->found, o->device))
            continue;
        elsewhere++;
        showing += shows(o->x, factor, rest);
    }
    return elsewhere > 0 && showing == 0;
}

static bool is_from_others(const struct searching *s, uint64_t device, double factor, double rest)
{
    size_t whole = 0, all = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct common_cell *c = &s->cells[i];
        if (c->device != device || !isfinite(c->x))
            continue;
        all++;
        whole += is_whole_elsewhere(s, c, factor, rest);
    }
    return whole >= OWN_CELLS_MIN && (double)whole >= nearly_all * (double)all;
}

/* rest: what the cells of the other cards have in common. */
static bool is_shared(const struct searching *s, size_t n, double factor, double rest, struct own_factor *out)
{
    size_t near = 0;
    for (size_t i = 0; i < n; i++) {
        near += is_near(s, s->x[i], factor);
        out->cells += shows(s->x[i], factor, rest);
    }
    return 2 * near > n && (double)out->cells >= nearly_all * (double)n &&
           (out->from_controls || out->from_others || several_show(s, out->device, factor, rest));
}

/* Whether the cells of the card differ together from those of the others. *errors: by how many of them. */
static bool differs(const struct searching *s, uint64_t device, struct own_factor *out, double *errors)
{
    struct common_factor rest = rest_of(s, device);
    size_t controls = values_of(s, device, true);
    *out = (struct own_factor){.device = device, .from_controls = controls >= OWN_CELLS_MIN};
    out->all = values_of(s, device, out->from_controls);
    if (!rest.known || out->all < OWN_CELLS_MIN)
        return false;
    double factor = stats_median(s->x, out->all);
    out->log = factor - rest.log;
    out->from_others = is_from_others(s, device, factor, rest.log);
    if (fabs(expm1(out->log)) < s->rules->least || !is_shared(s, out->all, factor, rest.log, out))
        return false;
    *errors = errors_of(s, out, rest.cells, &out->p);
    /* What changed is not where it was; of two cards of which one changed, it is the one that is farther off.
     */
    bool left = fabs(expm1(factor - s->rules->usual)) >= s->rules->least;
    bool half = 2 * (s->found->count + 1) == s->devices;
    bool itself = !half || fabs(factor - s->rules->usual) >= fabs(rest.log - s->rules->usual);
    return left && itself && *errors > s->rules->z_limit && !(out->p * (double)s->devices > alpha);
}

static bool comes_first(const struct searching *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (s->cells[k].device == s->cells[i].device)
            return false;
    return s->cells[i].device != 0;
}

static bool surest(const struct searching *s, struct own_factor *best)
{
    double most = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct own_factor f;
        double errors;
        bool open = comes_first(s, i) && !own_factor_of(s->found, s->cells[i].device);
        if (open && differs(s, s->cells[i].device, &f, &errors) && errors > most) {
            most = errors;
            *best = f;
        }
    }
    return most > 0;
}

struct common_factor own_factors_of(const struct common_cell *cells, size_t n, const struct own_rules *rules,
                                    struct own_factors *out)
{
    AUTO_FREE struct common_cell *rest = xcalloc(n + 1, sizeof *rest);
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);
    struct searching s = {.cells = cells, .n = n, .rules = rules, .found = out, .rest = rest, .x = x};
    struct own_factor best;
    *out = (struct own_factors){0};
    for (size_t i = 0; i < n; i++)
        s.devices += comes_first(&s, i);
    while (2 * (out->count + 1) <= s.devices && out->count < OWN_FACTORS_MAX && surest(&s, &best))
        out->items[out->count++] = best;
    return rest_of(&s, 0);
}
