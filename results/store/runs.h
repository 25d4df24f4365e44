/* runs: lists the stored runs, rejects runs, and removes runs or their samples. */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

struct run_list {
    struct run_info *runs; /* newest first */
    size_t count;
};

/* NULL or 0 in a field: any. */
struct run_filter {
    const char *ticket;
    const char *tag;
    const char *node;
    const char *mode;
    const char *purpose; /* as run_purpose_name() spells it */
    size_t limit;
};

int runs_list(struct store *s, const struct run_filter *filter, struct run_list *out, struct err *err);
/* How many there are without the filter's limit. */
int runs_count(struct store *s, const struct run_filter *filter, size_t *out, struct err *err);
void run_list_release(struct run_list *l);

/* Removes runs with their tests and telemetry, all or none; refused if a baseline contains one. */
int runs_remove(struct store *s, const int64_t *keys, size_t n, struct err *err);

/* A rejected run is kept and shown, but never compared. why: not empty; longer than RUN_REASON_MAX is cut.
 * Refused if a baseline would have no run left. Rejecting again replaces the reason. */
int runs_reject(struct store *s, int64_t key, const char *why, struct err *err);
/* ERR_INPUT if the run is not rejected. */
int runs_unreject(struct store *s, int64_t key, struct err *err);

/* How many cells have a confirmation between the run and another; it goes with the run. */
int runs_confirmed_cells(struct store *s, int64_t key, int64_t *out, struct err *err);

int runs_have_samples(struct store *s, int64_t key, bool *out, struct err *err);
/* Removes the samples of the runs' tests, all or none. *dropped: how many tests had samples. */
int runs_drop_samples(struct store *s, const int64_t *keys, size_t n, int64_t *dropped, struct err *err);
