/* history_load: loads the nights of a plan's cells from the store. Only COMPLETE runs and counted OK
 * repetitions contribute; of what was sampled, those that were sampled as in `before`. Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_HISTORY_LOAD_H
#define KERNSWEEP_RESULTS_QUERY_HISTORY_LOAD_H

#include "results/judge/nights/history.h"
#include "results/store/store.h"

enum {
    HISTORY_NIGHTS_DEFAULT = 50,
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
    const int64_t *keep; /* keys: runs that `nights` does not leave out, with the nights around them */
    size_t n_keep;
    enum metric metric;
    bool all_metrics; /* all instead of `metric` */
};

int history_load(struct store *s, const struct history_options *o, struct history *out, struct err *err);
/* The nights for judging `run`: of the same node, ticket, mode and tag, and older; with those around the runs
 * of its base (keep). */
int history_for_run(struct store *s, const struct run_info *run, const int64_t *keep, size_t n_keep,
                    enum metric metric, bool all_metrics, struct history *out, struct err *err);

#endif
