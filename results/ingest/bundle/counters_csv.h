/* counters_csv: reads the tables of profilers (ncu --csv --page raw, rocprofv3's counter_collection.csv):
 * one row for each launch, or for each counter of a launch, of which the mean over the launches of each
 * kernel is kept.
 */
#pragma once

#include "common/contract/counters.h"
#include "results/ingest/bundle/manifest.h"
#include "results/ingest/draft/draft.h"

enum { COUNTERS_CSV_MAX = 32 << 20 };

/* The counters of every variant and context of the draft into d->counters; after its tests. job: of the same
 * bundle, whose "counters" say what was asked for. What cannot be believed is left out with a warning. */
int counters_read(struct manifest *files, const struct json_at *job, struct draft *d, struct err *err);

/* One table. asked: ncu adds much that nobody asked for; NULL-terminated. file: for messages. ERR_INPUT if it
 * is neither profiler's. */
int counters_parse(const char *text, size_t len, const char *file, const char *const *asked,
                   const char *variant, int context, struct counter_list *out, struct err *err);
