/* The part of nights.h that reads a fitted model. */
#include "results/judge/nights/nights.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So far, and so many scales, a night lies from the others if it is none of their level. */
static const double apart_least = 0.03, apart_scales = 5;
/* By less, what all cells share wanders. */
static const double loss_least = 0.02;

/* How a cell lies to another one in the order of n->cells. */
static int order_of(const struct night_cell *c, const char *variant, int context)
{
    int names = strcmp(c->series->variant, variant);
    return names ? names : (c->series->context > context) - (c->series->context < context);
}

/* The first one that does not lie before it. */
static size_t place_of(const struct nights *n, const char *variant, int context)
{
    size_t low = 0, high = n->n_cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_of(&n->cells[middle], variant, context) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct night_cell *nights_find_cell(const struct nights *n, const char *variant, int context)
{
    size_t k = place_of(n, variant, context);
    return k < n->n_cells && order_of(&n->cells[k], variant, context) == 0 ? &n->cells[k] : NULL;
}

const struct night_cell *nights_find_on(const struct nights *n, const char *variant, int context,
                                        uint64_t device)
{
    for (size_t k = place_of(n, variant, context);
         k < n->n_cells && order_of(&n->cells[k], variant, context) == 0; k++)
        if (!n->cells[k].series->device || n->cells[k].series->device == device)
            return &n->cells[k];
    return NULL;
}

bool nights_has_newest(const struct nights *n, const struct night_cell *c)
{
    for (size_t i = c->count; i > 0; i--)
        if (c->night[i - 1] + 1 == n->count)
            return true;
    return false;
}

/* The newest points of [from, to) that are not set aside. */
static size_t newest(const struct changes *levels, size_t from, size_t to, size_t most, size_t *members)
{
    size_t count = 0;
    for (size_t i = to; i > from && count < most; i--)
        if (!levels->odd[i - 1])
            members[count++] = i - 1;
    return count;
}

/* The newest segment that is long enough or was accepted, else the longest. */
static size_t current_segment(const struct night_cell *c, size_t *members, size_t *since)
{
    size_t best[NIGHTS_LEVEL_MAX], most = 0;
    for (size_t to = c->count, from, end; to > 0; to = from) {
        changes_segment(&c->levels, to - 1, &from, &end);
        size_t count = newest(&c->levels, from, to, NIGHTS_LEVEL_MAX, best);
        bool accepted = count > 0 && from + 1 == c->accepted;
        if (count > most || accepted) {
            most = count;
            *since = from;
            memcpy(members, best, count * sizeof *members);
        }
        if (count >= NIGHTS_LEVEL_MIN || accepted)
            break;
    }
    return most;
}

/* The median; of values that count in steps, whose median may lie half a step off, the mean of the middle
 * half. */
static double centre_of(const double *x, const size_t *members, size_t n, bool in_steps)
{
    double values[NIGHTS_LEVEL_MAX];
    for (size_t i = 0; i < n; i++)
        values[i] = x[members[i]];
    if (!in_steps)
        return stats_median(values, n);
    values_sort(values, n);
    return stats_mean(values + n / 4, n - 2 * (n / 4));
}

uint64_t nights_device(const struct nights *n)
{
    for (size_t t = n->count; t > 0; t--)
        if (n->nights[t - 1].device)
            return n->nights[t - 1].device;
    return 0;
}

static void finish_level(const struct night_cell *c, struct level *l)
{
    l->known = l->nights > 0;
    if (!l->known)
        return;
    l->u = centre_of(c->u, l->members, l->nights, c->quantum > 0);
    l->y = centre_of(c->y, l->members, l->nights, c->quantum > 0);
}

struct level nights_level(const struct night_cell *c)
{
    struct level l = {0};
    size_t since = 0;
    l.nights = current_segment(c, l.members, &since);
    l.since = l.nights ? c->night[since] : 0;
    finish_level(c, &l);
    return l;
}

bool nights_accepted_since(const struct night_cell *c, const struct level *level)
{
    return c->accepted && (!level->known || c->night[c->accepted - 1] > level->since);
}

bool nights_is_listed(const int64_t *runs, size_t n, int64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i] == key)
            return true;
    return false;
}

/* Whether a night of the base's segment says how fast the base was: not if it ran other code. */
static bool speaks_for(const struct night_cell *c, size_t at, size_t i)
{
    uint64_t base = c->points[at]->code, then = c->points[i]->code;
    return !c->levels.odd[i] && (!base || !then || base == then);
}

/* Whether a night is at no level, or lies far from the others of its segment. */
static bool is_apart(const struct night_cell *c, size_t at, size_t from, size_t to)
{
    AUTO_FREE double *others = xcalloc(to - from, sizeof *others);
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        if (i != at && !c->levels.odd[i])
            others[n++] = c->u[i];
    double away = fabs(c->u[at] - stats_median(others, n));
    return c->levels.odd[at] || away > fmax(apart_least, apart_scales * c->scale.u);
}

/* The points of the segment nearest to `at`, the earlier of two equally near ones first. A base that lies far
 * from its neighbours is what it was set for, and speaks for itself. */
static size_t nearest(const struct night_cell *c, size_t at, size_t *members)
{
    size_t from, to, count = 0;
    changes_segment(&c->levels, at, &from, &to);
    bool apart = is_apart(c, at, from, to);
    if (apart)
        members[count++] = at;
    for (size_t away = 0; !apart && count < NIGHTS_BASE && away < to - from; away++) {
        if (at >= from + away && speaks_for(c, at, at - away))
            members[count++] = at - away;
        if (away && count < NIGHTS_BASE && at + away < to && speaks_for(c, at, at + away))
            members[count++] = at + away;
    }
    return count;
}

struct level nights_base_level(const struct night_cell *c, const int64_t *runs, size_t n_runs)
{
    struct level l = {0};
    size_t found = 0, at = 0;
    for (size_t i = c->count; i > 0; i--)
        if (nights_is_listed(runs, n_runs, c->points[i - 1]->run_key)) {
            if (l.nights < NIGHTS_LEVEL_MAX)
                l.members[l.nights++] = i - 1;
            at = i - 1;
            found++;
        }
    if (found == 1)
        l.nights = nearest(c, at, l.members);
    l.since = found ? c->night[at] : 0;
    finish_level(c, &l);
    return l;
}

bool nights_are_since(const struct night_cell *c, const struct level *level, const struct level *base)
{
    for (size_t i = 0; i < level->nights; i++)
        if (c->night[level->members[i]] > base->since)
            return true;
    return false;
}

/* What all cells share on the newest nights of a segment; no level if they are too few. */
static struct level factor_of_segment(const struct nights *n, size_t from, size_t to)
{
    struct level l = {.since = from};
    double values[NIGHTS_LEVEL_MAX];
    l.nights = newest(&n->factor_levels, from, to, NIGHTS_LEVEL_MAX, l.members);
    l.known = l.nights >= NIGHTS_LEVEL_MIN;
    for (size_t i = 0; i < l.nights; i++)
        values[i] = n->nights[l.members[i]].factor;
    l.y = stats_median(values, l.nights);
    return l;
}

/* Whether what all cells share became worse and nobody accepted that: not by a move to another GPU, and not
 * by the end of a short better time. */
static bool is_loss(const struct nights *n, const struct level *before, const struct level *after)
{
    uint64_t then = n->nights[before->members[0]].device, now = n->nights[after->members[0]].device;
    bool moved = then && now && then != now;
    return !moved && before->nights >= STANDING_FIRST && n->badness * (after->y - before->y) > loss_least;
}

static bool any_accepted(const struct nights *n, size_t from, size_t to)
{
    while (from < to && !n->nights[from].accepted)
        from++;
    return from < to;
}

struct level nights_factor_level(const struct nights *n)
{
    struct level l = {0};
    for (size_t from = 0, begin, to; from < n->count; from = to) {
        changes_segment(&n->factor_levels, from, &begin, &to);
        struct level next = factor_of_segment(n, from, to);
        bool usual = next.known && (any_accepted(n, from, to) || !is_loss(n, &l, &next));
        if (!l.known ? next.known || next.nights > l.nights : usual)
            l = next;
    }
    l.known = n->has_factors && l.nights > 0;
    return l;
}

double nights_base_factor(const struct nights *n, const struct night_cell *c, const struct level *base)
{
    double values[NIGHTS_LEVEL_MAX];
    for (size_t i = 0; i < base->nights; i++)
        values[i] = n->nights[c->night[base->members[i]]].factor;
    return stats_median(values, base->nights);
}

struct level nights_newer_factor(const struct nights *n, const struct level *usual, const int64_t *runs,
                                 size_t n_runs)
{
    struct level l = {0};
    double values[NIGHTS_LEVEL_MAX];
    size_t newest = 0;
    for (size_t i = 0; i < usual->nights; i++)
        newest = usual->members[i] > newest ? usual->members[i] : newest;
    for (size_t t = n->count; t > 0 && l.nights < NIGHTS_LEVEL_MAX; t--) {
        if (!nights_is_listed(runs, n_runs, n->nights[t - 1].run_key))
            continue;
        if (t - 1 <= newest)
            return (struct level){0};
        l.since = t - 1;
        values[l.nights] = n->nights[t - 1].factor;
        l.members[l.nights++] = t - 1;
    }
    l.known = l.nights > 0;
    l.y = stats_median(values, l.nights);
    return l;
}

struct level nights_accepted_factor(const struct nights *n, const struct level *usual)
{
    int64_t runs[NIGHTS_LEVEL_MAX];
    size_t count = 0, newest = 0;
    for (size_t i = 0; i < usual->nights; i++)
        newest = usual->members[i] > newest ? usual->members[i] : newest;
    for (size_t t = n->count; t > newest + 1 && count < NIGHTS_LEVEL_MAX; t--)
        if (n->nights[t - 1].accepted)
            runs[count++] = n->nights[t - 1].run_key;
    return nights_newer_factor(n, usual, runs, count);
}

double nights_share_of_code(const struct night_cell *c, const struct level *l, uint64_t code)
{
    size_t known = 0, same = 0;
    for (size_t i = 0; i < l->nights; i++) {
        uint64_t then = c->points[l->members[i]]->code;
        known += then != 0;
        same += then != 0 && then == code;
    }
    return known ? (double)same / (double)known : NAN;
}

bool nights_on_other_device(const struct night_cell *c, const struct level *l, uint64_t device)
{
    for (size_t i = 0; device && i < l->nights; i++) {
        uint64_t then = c->points[l->members[i]]->device;
        if (!then || then == device)
            return false;
    }
    return device && l->nights;
}
