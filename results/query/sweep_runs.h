/* sweep_runs: the runs that one command started on several nodes at once, and which sweep a word means.
 * Read-only. Errors: ERR_STORAGE, ERR_INTERNAL.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

/* The store's rows of the sweep's runs, by node, then from the oldest; the caller free()s *keys. */
int sweep_runs(struct store *s, const char *sweep, int64_t **keys, size_t *count, struct err *err);

/* The rows of a ticket's newest sweeps, at most `most`, by date, from the oldest; the caller free()s *keys.
 * Rejected and BLOCKED runs are among them. *total: how many there are in all. */
int ticket_runs(struct store *s, const char *ticket, size_t most, int64_t **keys, size_t *count,
                size_t *total, struct err *err);

/* The sweep that word names by its id, by a unique prefix of it, or as "latest", if the newest sweep of the
 * store is one of several nodes. id: char[RUN_ID_MAX], "" if word means none, which is no error. */
int sweep_runs_find(struct store *s, const char *word, char *id, struct err *err);
