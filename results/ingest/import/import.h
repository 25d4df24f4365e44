/* import: stores the results of other tools as a run, by a declarative mapping.
 *
 * A mapping (kernsweep.map/1) defines where the rows of a JSON, JSON lines or CSV file are, and the meaning
 * and unit of their values. Some mappings are built in. If the file lacks a value that the mapping requires,
 * nothing is stored, and the error names the file, the pointer and the mapping's field. Errors: ERR_INPUT.
 */
#pragma once

#include "results/ingest/draft/commit.h"
#include "results/ingest/draft/draft.h"
#include "results/ingest/import/map.h"
#include "results/ingest/import/mapped_run.h"

/* Reads a run from several files, which must agree on ticket, tag, date, node and mode. Rows of one variant
 * and context are repetitions, in the order of the files. ingest_draft() stores it. */
int import_read(const struct import_map *m, const char *const *paths, size_t n,
                const struct import_options *options, struct draft *d, struct err *err);

/* Whether a file of this mapping has many runs ("runs"): import_each() reads them, one after the other, and
 * stops when fn fails. */
bool import_has_runs(const struct import_map *m);
typedef int import_fn(struct draft *d, void *arg, struct err *err);
int import_each(const struct import_map *m, const char *path, const struct import_options *options,
                import_fn *fn, void *arg, struct err *err);
