#include "results/judge/nights/nights.h"

#include "common/base/alloc.h"
#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/night_cells.h"
#include "results/judge/nights/night_scales.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double young_errors = 3;
/* The memory is read again after so many nights, from the first time on that there are enough of them. */
enum { MEMORY_NIGHTS = 10, MEMORY_FIRST = 20 };

/* Up to this, steps that are no levels explain it. */
static const double memory_of_levels = 0.25;
/* While nobody knows it, nights are taken to resemble each other: few of them say little. */
static const double memory_unknown = 0.5;

struct place;

struct scratch {
    double *a, *b;
    uint64_t *device;
    struct common_cell *rows;
    struct place *places;
    struct residuals *residuals;
};

/* forced: by another device, and not because the level changed. */
static void begin_segment(struct night_cell *c, size_t at, bool forced)
{
    struct changes *l = &c->levels;
    size_t i = l->count++;
    for (; i > 0 && l->items[i - 1].at > at; i--)
        l->items[i] = l->items[i - 1];
    l->items[i] = (struct change){.at = at, .forced = forced};
}

/* A night's value is no more exact than the ticks of its clock and the median of its repetitions. */
static double resolution(const struct night_cell *c)
{
    AUTO_FREE double *n = xcalloc(c->count + 1, sizeof *n);
    for (size_t i = 0; i < c->count; i++)
        n[i] = c->points[i]->n;
    double repetitions = c->count ? stats_median(n, c->count) : 1;
    return fmax(c->quantum / sqrt(6), c->within * stats_median_error((size_t)repetitions));
}

static void begin_levels(struct night_cell *c)
{
    size_t room = c->count + 1;
    c->levels = (struct changes){.n = c->count,
                                 .odd = xcalloc(room, sizeof *c->levels.odd),
                                 .items = xcalloc(room, sizeof *c->levels.items)};
    for (int part = 0; part < 2; part++)
        standing_init(&c->standing[part], c->worse, c->count, resolution(c), nights_alike(memory_unknown));
    c->accepted = 0;
    c->next[0] = 0;
    c->next[1] = c->foreign;
    if (c->foreign > 0 && c->foreign < c->count)
        begin_segment(c, c->foreign, true);
}

/* Where a cell is in the night that is fitted. */
struct place {
    struct standing *s; /* NULL where the night did not measure it */
    size_t point;
    bool known; /* where its level is; the rest is 0 if not */
    double level, scale;
};

/* A level does not outlast the GPU that it was measured on. */
static void watch_device(struct night_cell *c, size_t first, const struct place *p)
{
    uint64_t now = c->points[p->point]->device;
    uint64_t before = p->point > first ? c->points[p->point - 1]->device : 0;
    if (!now || !before || now == before)
        return;
    standing_restart(p->s);
    begin_segment(c, p->point, true);
}

static void find_place(struct night_cell *c, size_t t, struct place *p)
{
    *p = (struct place){0};
    for (int part = 0; part < 2; part++) {
        size_t at = c->next[part], end = part ? c->count : c->foreign;
        if (at >= end || c->night[at] != t)
            continue;
        *p = (struct place){.s = &c->standing[part], .point = c->next[part]++};
        watch_device(c, part ? c->foreign : 0, p);
        p->known = standing_level(p->s, &p->level, &p->scale);
        return;
    }
}

double nights_even_factor(const struct nights *n, size_t t, const struct common_cell *cells, size_t count,
                          bool *known)
{
    struct common_factor f = common_factor_of(cells, count, 0, 0);
    *known = f.known;
    return f.known || t == 0 || count >= COMMON_CELLS_MIN ? f.log : n->nights[t - 1].factor;
}

/* Where a young cell's level will be: the median of the first points that make it. */
static double young_level(const struct night_cell *c, const struct place *p)
{
    size_t first = p->s->n ? p->s->members[0] : p->point;
    size_t end = p->point < c->foreign ? c->foreign : c->count;
    return stats_median(c->y + first, end - first < STANDING_ADOPT ? end - first : STANDING_ADOPT);
}

/* What the cells that have a level, or those that do not yet, have in common. Returns how many there are. */
static size_t find_rows(const struct nights *n, const struct place *places, bool young,
                        struct common_cell *rows)
{
    size_t count = 0;
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct night_cell *c = &n->cells[k];
        const struct place *p = &places[k];
        if (!p->s || p->known == young || p->s->open)
            continue;
        double level = young ? young_level(c, p) : n->badness * p->level;
        rows[count++] = (struct common_cell){.x = c->y[p->point] - level};
    }
    return count;
}

/* On the first nights no cell has a level, and what all have in common would be the scatter of each. What is
 * not sure, or within a step of the values, stays there: without it, their scatter would look smaller than it
 * is. */
static double young_factor(const struct nights *n, const struct common_cell *rows, size_t count)
{
    struct common_factor f = common_factor_of(rows, count, 0, 0);
    double least = young_errors * f.error;
    for (size_t k = 0; k < n->n_cells; k++)
        least = fmax(least, n->cells[k].quantum);
    return fabs(f.log) > least ? f.log : 0;
}

static void find_factor(struct nights *n, size_t t, const struct place *places, struct scratch *s)
{
    bool known = false;
    size_t count = find_rows(n, places, false, s->rows);
    if (count == 0)
        n->nights[t].factor = young_factor(n, s->rows, find_rows(n, places, true, s->rows));
    else
        n->nights[t].factor = nights_even_factor(n, t, s->rows, count, &known);
    n->has_factors |= known;
}

static void find_uneven(struct nights *n, size_t t, const struct place *places)
{
    struct standing_night night = {0};
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct place *p = &places[k];
        const struct night_cell *c = &n->cells[k];
        if (p->s && p->known)
            standing_night_add(&night, c->series->variant,
                               !p->s->open && standing_is_worse(c->worse[p->point] - p->level, p->scale));
    }
    n->nights[t].uneven = standing_night_is_uneven(&night);
}

/* Marks the points that are at no level. */
static void take_change(struct night_cell *c, const struct place *p, enum standing_change change)
{
    bool *odd = c->levels.odd;
    odd[p->point] = p->s->open || change == STANDING_HELD;
    if (change == STANDING_OPENED)
        for (size_t i = p->s->since; i <= p->point; i++)
            odd[i] = true;
    if (change == STANDING_CLOSED)
        for (size_t i = p->point + 1 - STANDING_BACK; i <= p->point; i++)
            odd[i] = false;
    if (change == STANDING_BEGINS)
        begin_segment(c, p->s->members[0], false);
}

/* finding: it was accepted by itself, and not as a part of a base. */
static void accept(struct night_cell *c, const struct place *p, bool finding)
{
    if (!standing_accept(p->s, p->point))
        return;
    if (finding)
        c->accepted = 1 + p->s->members[0];
    for (size_t i = 0; i < p->s->n; i++)
        c->levels.odd[p->s->members[i]] = false;
    begin_segment(c, p->s->members[0], false);
}

/* Whether the night is that of the accepted run, which may be one of several: the first one not older. */
static bool is_accepted_at(const struct nights *n, size_t t, const struct acceptance *a)
{
    return n->nights[t].measured_at >= a->measured_at &&
           (t == 0 || n->nights[t - 1].measured_at < a->measured_at);
}

static bool is_accepted(const struct nights *n, size_t t, const struct nights_accepted *accepted,
                        enum metric m, const char *variant, int context)
{
    for (size_t i = 0; i < accepted->n_findings; i++) {
        const struct acceptance *a = &accepted->findings[i];
        if (a->metric == m && a->context == context && is_accepted_at(n, t, a) &&
            strcmp(a->variant, variant) == 0)
            return true;
    }
    return false;
}

static void fit_night(struct nights *n, size_t t, const struct nights_accepted *accepted, struct scratch *s)
{
    for (size_t k = 0; k < n->n_cells; k++)
        find_place(&n->cells[k], t, &s->places[k]);
    find_factor(n, t, s->places, s);
    for (size_t k = 0; k < n->n_cells; k++)
        if (s->places[k].s) {
            struct night_cell *c = &n->cells[k];
            size_t point = s->places[k].point;
            c->u[point] = c->y[point] - n->nights[t].factor;
            c->worse[point] = n->badness * c->u[point];
        }
    find_uneven(n, t, s->places);
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct place *p = &s->places[k];
        if (!p->s)
            continue;
        const struct history_series *of = n->cells[k].series;
        take_change(&n->cells[k], p, standing_step(p->s, p->point, n->nights[t].uneven));
        n->nights[t].accepted |= is_accepted(n, t, accepted, of->metric, "", 0);
        if (is_accepted(n, t, accepted, of->metric, of->variant, of->context))
            accept(&n->cells[k], p, true);
        else if (nights_is_listed(accepted->runs, accepted->count, n->nights[t].run_key))
            accept(&n->cells[k], p, false);
    }
}

static struct scratch scratch_for(const struct nights *n)
{
    size_t most = n->count > n->n_cells ? n->count : n->n_cells;
    return (struct scratch){
        .a = xcalloc(most + 1, sizeof(double)),
        .b = xcalloc(most + 1, sizeof(double)),
        .device = xcalloc(most + 1, sizeof(uint64_t)),
        .rows = xcalloc(n->n_cells + 1, sizeof(struct common_cell)),
        .places = xcalloc(n->n_cells + 1, sizeof(struct place)),
        .residuals = xcalloc(n->n_cells + 1, sizeof(struct residuals)),
    };
}

static void scratch_release(struct scratch *s)
{
    free(s->a);
    free(s->b);
    free(s->device);
    free(s->rows);
    free(s->places);
    free(s->residuals);
}

static void release_levels(struct night_cell *c)
{
    standing_release(&c->standing[0]);
    standing_release(&c->standing[1]);
    changes_release(&c->levels);
}

static double memory_so_far(const struct nights *n, struct scratch *s)
{
    double memory = night_scales_memory(n, s->residuals, s->a, s->b);
    return memory > memory_of_levels ? memory : 0;
}

/* A night is judged by the memory of those before it, so that no night changes what was said of another. */
static void fit(struct nights *n, const struct nights_accepted *accepted, struct scratch *s)
{
    for (size_t k = 0; k < n->n_cells; k++)
        begin_levels(&n->cells[k]);
    for (size_t t = 0; t < n->count; t++) {
        fit_night(n, t, accepted, s);
        if ((t + 1) % MEMORY_NIGHTS != 0 || t + 1 < MEMORY_FIRST)
            continue;
        double alike = nights_alike(memory_so_far(n, s));
        for (size_t k = 0; k < n->n_cells; k++)
            n->cells[k].standing[0].alike = n->cells[k].standing[1].alike = alike;
    }
    night_scales_find(n, s->residuals, s->a, s->b);
    night_scales_find_with_factors(n, s->a);
    n->prior = night_scales_prior(n, s->a, s->b);
}

static void fit_factors(struct nights *n, struct scratch *s)
{
    struct changes_options o = changes_defaults();
    AUTO_FREE double *y = xcalloc(n->count + 1, sizeof *y);
    for (size_t t = 0; t < n->count; t++) {
        y[t] = n->nights[t].factor;
        s->a[t] = exp(y[t]);
        s->device[t] = n->nights[t].device;
    }
    o.device = s->device;
    changes_find(s->a, n->count, &o, &n->factor_levels);
    n->factor_scale = night_scale_of(y, &n->factor_levels, n->count, s->a, s->b);
}

void nights_model(const struct history *h, enum metric m, const struct nights_accepted *accepted,
                  struct nights *out)
{
    static const struct nights_accepted none = {0};
    *out = (struct nights){.badness = metric_info(m)->better == METRIC_LESS ? 1 : -1};
    night_cells_fill(h, m, out);
    AUTO(scratch_release) struct scratch s = scratch_for(out);
    fit(out, accepted ? accepted : &none, &s);
    fit_factors(out, &s);
}

void nights_model_release(struct nights *n)
{
    for (size_t k = 0; k < n->n_cells; k++) {
        struct night_cell *c = &n->cells[k];
        free(c->points);
        free(c->night);
        free(c->y);
        free(c->u);
        free(c->worse);
        release_levels(c);
    }
    changes_release(&n->factor_levels);
    free(n->cells);
    free(n->nights);
    *n = (struct nights){0};
}
