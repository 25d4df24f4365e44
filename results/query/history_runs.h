/* history_runs: which runs a history consists of, with the GPUs of their nodes. A part of history_load.
 *
 * The runs of one date and of the same sources are one night. A run with local changes is none, unless it is
 * kept, nor is one of the same night as the run that the history is for; of runs whose sources are unknown,
 * each is one. The owner calls history_runs_release(). Errors: ERR_STORAGE. */
#pragma once

#include "results/store/metric.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

enum {
    HISTORY_NIGHTS_MIN =
        60, /* what a run is judged by: as many nights as make so many points, within limits */
    HISTORY_NIGHTS_MAX = 400,
    HISTORY_POINTS = 20000,
    HISTORY_NIGHTS_AROUND = 10, /* before and after a run that is kept whatever its age */
};

struct history_options {
    const char *node; /* required, as ticket and mode */
    const char *ticket;
    const char *mode;
    const char *tag;     /* NULL: any but "confirm" and "noise" */
    const char *variant; /* NULL: all */
    int context;         /* 0: all */
    int64_t before;      /* key: only runs older than this one; 0: all */
    size_t nights;       /* only the newest so many; 0: all */
    bool judged; /* by the run before which they were: `nights` follows from its cells, see history_runs.c */
    const int64_t *keep; /* keys: runs that `nights` does not leave out, with the nights around them */
    size_t n_keep;
    enum metric metric;
    bool all_metrics; /* all instead of `metric` */
};

struct history_run {
    int64_t key;
    int64_t night;       /* key of the run that stands for its night: one that is kept, or the newest */
    size_t rank;         /* chronological position of the night */
    int64_t measured_at; /* the night */
    int64_t day;
    uint64_t source; /* 0 when unknown */
    int64_t environment;
    uint64_t device; /* of its node, for tests that name no GPU; 0 when unknown */
    bool kept, wanted;
};

struct history_runs {
    struct history_run *items; /* sorted by key */
    size_t count, nights;
    size_t changed; /* runs that are left out for their local changes */
};

/* out: empty; released by the caller also on error. */
int history_runs_load(struct store *s, const struct history_options *o, struct history_runs *out,
                      struct err *err);
void history_runs_release(struct history_runs *e);
/* NULL if it is none of them. */
const struct history_run *history_runs_find(const struct history_runs *e, int64_t key);
