/* halving: which points a search measures again (successive halving: Jamieson and Talwalkar 2016). Of those
 * that the last round measured and nothing rules out, the better half by median, but at least two. Pure.
 */
#pragma once

#include "results/judge/search/best_groups.h"

enum { HALVING_ROUNDS_MAX = 6 };

/* Repetitions of each point in a round, from 1: 3, 3, 6, 12, 24, 24. */
int64_t halving_repetitions(size_t round);
/* keep: by point of the group, which has rounds runs. Returns how many are kept; fewer than two: it is
 * decided, and the group is measured no more. */
size_t halving_keep(const struct best_group *g, size_t rounds, bool *keep);
