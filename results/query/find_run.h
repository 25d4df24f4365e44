/* find_run: finds the stored run that a command-line argument refers to.
 *
 * The argument is a run id, a unique prefix of one, a plan's ticket (the newest sweep of it that is not
 * rejected, and BLOCKED only where there is no other), a folder that was ingested (only its identity is
 * read), or "latest": the newest sweep that is neither rejected nor BLOCKED. Errors: ERR_INPUT if it matches
 * no run or several.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

/* *key: the store's row. The error for an ambiguous prefix lists the first candidates. */
int store_find_run(struct store *s, const char *word, int64_t *key, struct err *err);

/* Whether the word is the ticket of a stored run: 1 or 0, or -1 with err. */
int store_find_ticket(struct store *s, const char *word, struct err *err);

/* store_find_run(), then run_data_load(). */
int store_load_run(struct store *s, const char *word, struct run_data *out, struct err *err);

/* Several runs that are looked at together: each must be comparable, and none named twice, since its tests
 * would count twice. out: room for n. *count: how many the caller releases, after an error too. */
int store_load_runs(struct store *s, const char *const *words, size_t n, struct run_data *out, size_t *count,
                    struct err *err);
