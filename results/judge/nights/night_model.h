/* night_model: what nights.h fills in. Plain data. */
#pragma once

#include "results/judge/nights/changes.h"
#include "results/judge/nights/history.h"
#include "results/judge/nights/standing_state.h"

enum {
    NIGHTS_LEVEL_MIN = 4,  /* a segment is a reference from this night on; until then the one before it is */
    NIGHTS_LEVEL_MAX = 20, /* nights behind a level at most: the newest of the segment */
    NIGHTS_BASE = 5,       /* nights behind the level of a stored base */
};

struct night {
    int64_t run_key;
    int64_t measured_at;
    uint64_t device; /* 0: unknown, or several */
    bool several;
    double factor; /* logarithm of the common factor; 0 where fewer than six cells agree on one */
    bool uneven;   /* too many cells were worse for a verdict on each */
    bool accepted; /* somebody accepted its factor */
};

/* How far nights lie from their level. Relative. */
struct night_scale {
    double u;      /* without the nights' common factors */
    double y;      /* with them */
    double nights; /* behind the two */
};

struct night_cell {
    const struct history_series *series;
    const struct history_point **points; /* in order of nights; those of another GPU than the series' first */
    size_t *night;                       /* of each point */
    double *y, *u;
    double *worse; /* u, signed so that more is worse; with room for tonight's and STANDING_AHEAD more */
    size_t count;
    size_t foreign;              /* points of another GPU */
    size_t next[2];              /* while the model is fitted: the next point of either kind */
    struct standing standing[2]; /* on another GPU, and on its own */
    struct changes levels;       /* of u: segments, and the points that are at no level */
    size_t accepted;             /* 1 + the first point of the newest accepted finding; 0: none */
    struct night_scale scale;
    double within;  /* relative spread of the repetitions of a night; 0 if unknown */
    double quantum; /* relative resolution of the values */
};

struct nights {
    struct night *nights; /* in the order in which they were measured */
    size_t count;
    struct night_cell *cells; /* by (variant, context) */
    size_t n_cells;
    struct night_scale pooled; /* the median over the cells */
    double prior;              /* degrees of freedom that it is worth beside a cell's own */
    double badness;            /* 1 if more is worse, else -1 */
    double memory;             /* how much nights resemble the night before: 0 (not) to 0.8 */
    bool has_factors;          /* of any night */
    struct changes factor_levels;
    struct night_scale factor_scale; /* y only */
};
