/* excursions: which stretches of a series are no level of their own, because the series has such nights
 * anyway.
 *
 * A stretch that leaves the level beside it and comes back, or a short one at either end, is a level only if
 * so many nights in a row are not to be expected from the nights around it: spikes of one night follow each
 * other now and then, and a series in two states goes from one to the other all the time. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Nights between two changes, in logarithms. */
struct stretch {
    size_t from, to; /* [from, to) */
    double level;
    bool apart; /* from the stretch before it, whatever their levels: another GPU */

    /* The rest is found. */
    int side;        /* 1: above the levels beside it, -1: below, 0: no excursion */
    double beside;   /* the nearer one of these levels, */
    bool before;     /* which is that of the stretch before it */
    double expected; /* stretches as long as it, by chance */
    bool chance; /* it is no level; where that is doubtful of neighbours, too, only of the most doubtful */
};

/* y: logarithms, NaN where unknown. The stretches follow each other and cover all points. odd[t]: the point
 * is in no level, but is a night that the series had. Returns how many are chance. */
size_t excursions_find(const double *y, const bool *odd, struct stretch *all, size_t count);
