/* counters_csv: reads the tables of profilers (ncu --csv --page raw, rocprofv3's counter_collection.csv or
 * its database), which have one row for each launch, or for each counter of a launch. Keeps the mean over the
 * launches of each kernel.
 */
#pragma once

#include "common/contract/counters.h"
#include "results/ingest/bundle/manifest.h"
#include "results/ingest/draft/draft.h"

enum { COUNTERS_CSV_MAX = 32 << 20 };

/* Reads the counters of every variant and context into d->counters, after the draft's tests. job: of the same
 * bundle, whose "counters" say what was asked for. Implausible ones are left out with a warning. */
int counters_read(struct manifest *files, const struct json_at *job, struct draft *d, struct err *err);

/* Reads one table. asked: NULL-terminated, as ncu adds much that nobody asked for. file: for messages.
 * ERR_INPUT if the table is neither profiler's. */
int counters_parse(const char *text, size_t len, const char *file, const char *const *asked,
                   const char *variant, int context, struct counter_list *out, struct err *err);
