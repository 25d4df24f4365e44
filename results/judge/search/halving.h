/* halving: which points a search measures again (successive halving: Jamieson and Talwalkar 2016): the better
 * half by median, but at least two, of the points that the last round measured and nothing rules out. Pure.
 */
#pragma once

#include "results/judge/search/best_groups.h"

enum { HALVING_ROUNDS_MAX = 6 };

/* Repetitions of each point in a round, from 1: 3, 3, 6, 12, 24, 24. */
int64_t halving_repetitions(size_t round);
/* keep: by point of the group, after `rounds` runs. Returns how many are kept; with fewer than two it is
 * decided, and the group is not measured again. */
size_t halving_keep(const struct best_group *g, size_t rounds, bool *keep);
