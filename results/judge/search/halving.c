#include "results/judge/search/halving.h"

int64_t halving_repetitions(size_t round)
{
    int64_t n = BEST_VALUES_MIN;
    for (size_t r = 2; r < round && n < 24; r++)
        n *= 2;
    return n;
}

static bool is_left(const struct best_group *g, size_t point, size_t rounds)
{
    return g->point[point].candidate && g->member[point].last_run + 1 == rounds;
}

/* How many of the remaining points have a better median. */
static size_t rank_of(const struct best_group *g, size_t point, size_t rounds)
{
    const struct best_point *p = &g->point[point];
    size_t rank = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct best_point *o = &g->point[i];
        bool better = g->more_is_better ? o->median > p->median : o->median < p->median;
        rank += i != point && is_left(g, i, rounds) && (better || (o->median == p->median && i < point));
    }
    return rank;
}

size_t halving_keep(const struct best_group *g, size_t rounds, bool *keep)
{
    size_t left = 0, kept = 0;
    for (size_t i = 0; i < g->count; i++)
        left += is_left(g, i, rounds);
    size_t most = left < 4 ? 2 : (left + 1) / 2;
    for (size_t i = 0; i < g->count; i++) {
        keep[i] = left > 1 && is_left(g, i, rounds) && rank_of(g, i, rounds) < most;
        kept += keep[i];
    }
    return kept;
}
