/* history_load: the nights of a plan's cells from the store. Only COMPLETE runs and counted OK repetitions
 * contribute. Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_HISTORY_LOAD_H
#define KERNSWEEP_RESULTS_QUERY_HISTORY_LOAD_H

#include "results/judge/history.h"
#include "results/store/store.h"

enum { HISTORY_NIGHTS_DEFAULT = 50 };

struct history_options {
    const char *node; /* required, as ticket and mode */
    const char *ticket;
    const char *mode;
    const char *tag;     /* NULL: any but those above */
    const char *variant; /* NULL: all */
    int context;         /* 0: all */
    int64_t before;      /* only runs older than this one (a run's key); 0: all */
    size_t nights;       /* at most so many runs, the newest of them; 0: all */
    const int64_t *only; /* the runs that may count (a baseline's); NULL: all */
    size_t n_only;
    int64_t without; /* a run that may not count; 0: none */
    enum metric metric;
    bool all_metrics; /* every metric instead of that one */
};

int history_load(struct store *s, const struct history_options *o, struct history *out, struct err *err);
/* The nights that may judge `run`: same node, ticket, mode and tag, older than it. */
int history_for_run(struct store *s, const struct run_info *run, enum metric metric, bool all_metrics,
                    struct history *out, struct err *err);

#endif
