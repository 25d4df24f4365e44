/* standing_window: whether the newest nights of a cell lie so far above its level that they are a worse
 * level. For standing.c only. Pure.
 */
#pragma once

#include "results/judge/nights/standing_state.h"

enum { STANDING_WINDOW_MIN = 2, STANDING_WINDOW_MAX = 8 };

#define STANDING_START 0.01 /* below this, no window begins and no better level is one */
#define STANDING_WORSE 0.02 /* below this, no night is worse */
/* A night speaks for a window if it keeps this share of its mean: every one of few nights the first. */
#define STANDING_SHARE_OF_FEW 0.5
/* The variance of a median of n normal values is so many times that of their mean. */
#define STANDING_MEDIAN_VARIANCE 1.57

/* The median of the newest of the first n members; of: how many these are. */
double standing_median_before(const struct standing *s, size_t n, size_t *of);
/* False only if that median surely is not above a value (side 1), or below it (-1): counting says so sooner.
 */
bool standing_median_may_be(const struct standing *s, size_t n, double side, double value);
/* Reads middle and sizes anew, after a change of what they are of. */
void standing_look(struct standing *s);
/* Of one night about the level, from the newest of the first n in s->apart; by the middle, or by the tail if
 * that says more. */
double standing_scale(const struct standing *s, size_t n);
/* How many of the newest nights show a worse level: the shortest window that does, or 1 for a night beyond
 * all before it; 0 if none does. level: the one before them. */
size_t standing_window_find(const struct standing *s, double *level, double *size);
/* Whether these k nights, relative to a level of so many nights, are a worse level. n: nights in s->apart
 * before them. */
bool standing_window_is_worse(const struct standing *s, const double *nights, size_t k, size_t behind,
                              size_t n);
