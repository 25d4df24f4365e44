/* confirm_store: stores the results of confirming, so that later comparisons of the same two runs reach the
 * same verdicts. Errors: ERR_STORAGE. */
#pragma once

#include "results/judge/confirm.h"
#include "results/store/store.h"

int confirm_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                 struct err *err);
int confirm_load(struct store *s, int64_t now_key, int64_t base_key, struct confirm_records *out,
                 struct err *err);
