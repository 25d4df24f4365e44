/* baseline: named, stored runs that others are compared with; names are unique per node, plan (ticket) and
 * mode.
 *
 * A baseline may contain several runs: the newest is the base of a comparison, all of them are its history.
 * Errors: ERR_INPUT for a name that is unknown or belongs to another node or plan, or a run without results.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

struct baseline {
    int64_t id;
    char name[RUN_NAME_MAX];
    char node[RUN_NODE_MAX];
    char ticket[RUN_NAME_MAX];
    char mode[16];
    char run_id[RUN_ID_MAX]; /* the newest of its runs */
    int64_t key;             /* its row */
    int runs;                /* how many it contains */
    char set_at[CLOCK_ISO_LEN + 1];
    char removed_at[CLOCK_ISO_LEN + 1]; /* "" unless it was removed */
};

struct baseline_list {
    struct baseline *items;
    size_t count;
};

/* Sets the baseline `name` of the run's node and ticket to the run. add: its previous runs are kept as
 * history. A run without an OK test is refused. */
int baseline_set(struct store *s, const char *name, int64_t run_key, bool add, struct err *err);
/* node and ticket may be NULL: it is an error if several baselines match. */
int baseline_remove(struct store *s, const char *name, const char *node, const char *ticket, struct err *err);
int baseline_list(struct store *s, struct baseline_list *out, struct err *err);
void baseline_list_release(struct baseline_list *l);

/* The baseline of that name for the node, plan and mode of `run`. */
int baseline_resolve(struct store *s, const char *name, const struct run_info *run, struct baseline *out,
                     struct err *err);

/* The rows of a baseline's runs, newest first; the caller frees *keys. */
int baseline_runs(struct store *s, const struct baseline *b, int64_t **keys, size_t *count, struct err *err);
