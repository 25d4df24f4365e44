/* standing: whether a cell is at its level, night by night: one night makes a suspect, several make a
 * finding.
 *
 * A filter over the nights of one cell, on logarithms of which more is worse and from which the night's
 * common factor is taken. A level is the median of its newest nights. A worse level is found when the last 2
 * to 8 nights lie so far above the level before them that the cell's own nights do not explain it: by its
 * scale, and because it never had as many such nights in a row. From then on the level is frozen and the
 * finding is open until three nights in a row lie below half of it. A better level is adopted after four
 * nights. Nights that are uneven (many cells of many variants worse) count neither for nor against it, until
 * four of them follow each other or the night before them was worse, too.
 *
 * docs/statistics.md says what the constants were chosen on. Pure; the owner calls standing_release().
 */
#pragma once

#include "results/judge/nights/standing_state.h"

/* cap: how many points x will have; there is room for one more, and STANDING_AHEAD behind it. */
void standing_init(struct standing *s, const double *x, size_t cap, double least, double alike);
void standing_release(struct standing *s);
/* Forgets all nights. */
void standing_restart(struct standing *s);

/* False while there are too few nights. scale: of one night about the level. */
bool standing_level(const struct standing *s, double *level, double *scale);

/* Whether a value so far above its level counts as worse where it is asked how many cells are. */
bool standing_is_worse(double apart, double scale);

/* The cells of a night that have a level, those of one variant after each other. */
struct standing_night {
    size_t cells, worse, variants, worse_variants;
    const char *variant, *worse_variant; /* the newest */
};

void standing_night_add(struct standing_night *n, const char *variant, bool worse);
/* Whether so many cells are worse, and in so many variants, that it may be the machine. Code that only one or
 * two variants run makes no night uneven, however many contexts they have. */
bool standing_night_is_uneven(const struct standing_night *n);

enum standing_change {
    STANDING_SAME,
    STANDING_YOUNG, /* too few nights to judge */
    STANDING_HELD,  /* the night was uneven, and does not count */
    STANDING_OPENED,
    STANDING_CLOSED, /* the newest STANDING_BACK points are at the level again */
    STANDING_BEGINS, /* a better level, or another one among the first nights, begins with members[0] */
};

/* The next point. */
enum standing_change standing_step(struct standing *s, size_t point, bool uneven);
/* What happened up to this point is accepted: the nights of an open finding, or the newest ones that lie as
 * far from the level as it does, are the level from now on. True if a level of its own begins with
 * members[0]. */
bool standing_accept(struct standing *s, size_t point);

/* Whether a finding would be open after this further point, whose place in x is behind all others; s itself
 * does not step. since: the finding's first point. back: the point is one of those that close it. */
bool standing_would_be_open(const struct standing *s, size_t point, bool uneven, size_t *since, bool *back);
/* How many more nights like this further point make a finding, if the next ones are even; 0: none of the next
 * STANDING_AHEAD does. x: has room for them behind the point. */
size_t standing_nights_to_open(const struct standing *s, double *x, size_t point);
/* Whether these points, the newest n, are a worse level than another one, that of so many nights: begins is
 * the index of the first that is. */
bool standing_is_worse_than(const struct standing *s, const size_t *points, size_t n, double level,
                            size_t behind, size_t *begins);
