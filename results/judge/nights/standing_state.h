/* standing_state: where a cell stands between two nights (standing.h). Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    STANDING_FIRST = 8,    /* nights that make the first level without being judged */
    STANDING_ADOPT = 4,    /* nights that make a better level */
    STANDING_HELD_MAX = 4, /* uneven nights in a row that count after all */
    STANDING_LEVEL = 20,   /* nights behind a level at most */
    STANDING_LOOK = 60,    /* nights that say how far a night may lie from it */
    STANDING_RETURNS = 3,  /* after so many, to have left again is no news: the cell has states */
    STANDING_BACK = 3,     /* nights in a row that close a finding */
    STANDING_AHEAD = 7,    /* nights that are looked ahead */
};

/* How far some nights in a row lie from their level, sorted. */
struct standing_sizes {
    double v[STANDING_LOOK];
    size_t from, to; /* of standing.apart */
};

struct standing {
    const double *x; /* the cell's values, by point; not owned */
    double least;    /* smallest scale that is believed: the resolution of the values */
    double
        alike; /* how many nights say as much as one that is independent of those before it; 1 if they are */
    size_t *members; /* points of the present level, in order */
    size_t n;
    double middle; /* the median of the newest of them; unless a finding is open */
    double *apart; /* how far the nights before lay from their level */
    size_t n_apart;
    struct standing_sizes sizes;    /* of the newest of them */
    size_t held[STANDING_HELD_MAX]; /* points of uneven nights */
    size_t n_held;
    bool open;
    size_t since;     /* first point of the open finding */
    size_t opened_at; /* the point that opened it */
    size_t window;    /* points that it was opened on */
    double size;      /* what a night has to keep half of */
    double found;     /* its size when it was opened */
    double level;     /* frozen; while a finding is open */
    size_t back;      /* nights in a row that did not */
    size_t
        returned_at[STANDING_RETURNS]; /* the newest points at which the cell came back, the oldest first */
    double returned[STANDING_RETURNS]; /* by how much */
    size_t n_returned;
    double gain; /* by which the present level is better than the one before it; 0 if it is not */
};
