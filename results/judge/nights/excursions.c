#include "results/judge/nights/excursions.h"

#include "common/base/values.h"

#include <math.h>

/* LOOK: nights on either side that say how often such nights come. A stretch of LONG nights is a level. From
 * so many visits on, a state is one that the series is in now and then. */
enum { LOOK = 60, LONG = 20, FEW = 3, VISITS_MIN = 3 };

/* A night counts as such if it reached as far but for this factor. What was never seen may come as often as
 * if it had been seen so many times. So many stretches of this length may be expected. */
static const double tail_margin = 1.15, unseen = 0.3, chance_most = 0.01;

static double distance(const struct stretch *a, const struct stretch *b)
{
    return fabs(a->level - b->level);
}

static bool is_shorter(const struct stretch *a, const struct stretch *b)
{
    return a->to - a->from < b->to - b->from;
}

static void place_excursion(struct stretch *all, size_t count, size_t i)
{
    struct stretch *s = &all[i];
    const struct stretch *before = i > 0 && !s->apart ? s - 1 : NULL,
                         *after = i + 1 < count && !s[1].apart ? s + 1 : NULL;
    if ((!before && !after) || s->to - s->from >= LONG)
        return;
    if (before && after && (before->level < s->level) != (after->level < s->level))
        return;
    s->before = before && (!after || distance(before, s) <= distance(after, s));
    const struct stretch *nearer = s->before ? before : after;
    if (!(before && after) && !is_shorter(s, nearer))
        return;
    s->side = s->level > nearer->level ? 1 : -1;
    s->beside = nearer->level;
}

/* How far a night of the stretch lies on that side of the level that would be there without excursions to it.
 */
static double away(const struct stretch *s, double y, int side)
{
    return side * (y - (s->side == side ? s->beside : s->level));
}

/* How far its nights lie away: the least of few, else the lower quartile. */
static double reached(const double *y, const bool *odd, const struct stretch *s, size_t *nights)
{
    double v[LONG];
    *nights = 0;
    for (size_t t = s->from; t < s->to; t++)
        if (!odd[t])
            v[(*nights)++] = away(s, y[t], s->side);
    values_sort(v, *nights);
    return *nights ? v[*nights <= FEW ? 0 : *nights / 4] : 0;
}

/* The nights around a stretch, and how many of them lie as far away. */
struct such {
    size_t looked, nights;
    size_t visits, in_visits; /* of two nights in a row or more, and the nights in them */
};

static bool is_near(const struct stretch *s, size_t t)
{
    return t + LOOK >= s->from && t < s->to + LOOK;
}

static struct such such_nights(const double *y, const struct stretch *all, size_t count, size_t i,
                               double reach)
{
    const struct stretch *s = &all[i];
    struct such r = {0};
    size_t row = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t t = all[k].from; t < all[k].to && k != i && t < s->to + LOOK; t++) {
            if (!is_near(s, t))
                continue;
            row = tail_margin * away(&all[k], y[t], s->side) > reach ? row + 1 : 0;
            r.looked++;
            r.nights += row > 0;
            r.visits += row == 2;
            r.in_visits += row == 2 ? 2 : row > 2;
        }
    return r;
}

/* How many stretches of so many nights are to be expected: if every night may be such a one, or if the series
 * stays for a while wherever it is. */
static double expected(const struct such *such, size_t nights)
{
    double looked = (double)such->looked, visits = (double)such->visits, of = (double)such->in_visits;
    double share = ((double)such->nights + unseen) / (looked + 1), stays = (of - visits) / (of + 1);
    double single = looked * pow(share, (double)nights);
    return such->visits < VISITS_MIN ? single : fmax(single, visits * pow(stays, (double)nights - 1));
}

static void judge_excursion(const double *y, const bool *odd, struct stretch *all, size_t count, size_t i)
{
    size_t nights;
    double reach = reached(y, odd, &all[i], &nights);
    struct such such = such_nights(y, all, count, i, reach);
    all[i].expected = reach > 0 ? expected(&such, nights) : INFINITY;
}

size_t excursions_find(const double *y, const bool *odd, struct stretch *all, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        place_excursion(all, count, i);
    for (size_t i = 0; i < count; i++)
        if (all[i].side)
            judge_excursion(y, odd, all, count, i);
    for (size_t i = 0; i < count; i++) {
        const struct stretch *s = &all[i];
        bool most = (i == 0 || !s[-1].chance) && (i + 1 == count || s[1].expected <= s->expected);
        all[i].chance = most && s->expected > chance_most;
        found += all[i].chance;
    }
    return found;
}
