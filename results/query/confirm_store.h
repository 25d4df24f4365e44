/* confirm_store: stores the results of confirming, so that later comparisons of the same two runs reach the
 * same verdicts. Errors: ERR_STORAGE. */
#ifndef KERNSWEEP_RESULTS_QUERY_CONFIRM_STORE_H
#define KERNSWEEP_RESULTS_QUERY_CONFIRM_STORE_H

#include "results/judge/confirm.h"
#include "results/store/store.h"

int confirm_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                 struct err *err);
int confirm_load(struct store *s, int64_t now_key, int64_t base_key, struct confirm_records *out,
                 struct err *err);

#endif
