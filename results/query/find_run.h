/* find_run: which stored run a user's word means.
 *
 * A word is a run id, a unique prefix of one, "latest", or a folder that was ingested (its identity is read
 * from the folder; nothing is ingested here). Errors: ERR_INPUT for a word that means no run or several.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_FIND_RUN_H
#define KERNSWEEP_RESULTS_QUERY_FIND_RUN_H

#include "results/store/run_data.h"
#include "results/store/store.h"

/* *key: the store's row. An ambiguous prefix is refused with the first candidates. */
int store_find_run(struct store *s, const char *word, int64_t *key, struct err *err);

/* store_find_run() and run_data_load() in one. */
int store_load_run(struct store *s, const char *word, struct run_data *out, struct err *err);

#endif
