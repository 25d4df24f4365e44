/* failing: since which night cells that fail in a run have failed on the nights before it, too. */
#pragma once

#include "results/judge/verdict.h"
#include "results/store/store.h"

/* *out: the owner free()s it; NULL if there is none. Errors: ERR_STORAGE. */
int failing_load(struct store *s, const struct run_data *now, struct failing_cell **out, size_t *n,
                 struct err *err);
