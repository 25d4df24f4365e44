/* causes_store: causes as JSON, for --json and the store's table `cause`. */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

#include <jansson.h>

/* An array, the strongest first; empty for NULL. The caller json_decref()s it. NULL without memory. */
json_t *causes_encode(const struct cell_causes *c);

/* Replaces those of this run against this base; base_key 0: the nights before. */
int causes_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                struct err *err);
