/* openings_load: finds in the store when the findings of a comparison began, with which commits, and what
 * searches found. Errors: ERR_STORAGE. */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

/* Fills in c->openings anew, and delta.stand.since where that is not known. */
int openings_load(struct store *s, const struct run_data *now, struct comparison *c, struct err *err);
