/* import: the results of other tools, through a declarative mapping file, as a run like any other.
 *
 * A mapping (kernsweep.map/1) says where the rows of a JSON, JSON lines or CSV file are and
 * which of their values mean what, units included. Some are built in and go by name. What a mapping asks for
 * and a file lacks is an error that names both the file with the pointer and the mapping's own field; nothing
 * is stored then. Errors: ERR_INPUT.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_H

#include "results/ingest/draft.h"
#include "results/ingest/import_map.h"
#include "results/ingest/import_run.h"
#include "results/ingest/ingest.h"

/* One file, one run. */
int import_file(struct store *s, const struct import_map *m, const char *path,
                const struct import_options *options, struct ingest_result *out, struct err *err);
/* The part before the store. */
int import_read(const struct import_map *m, const char *path, const struct import_options *options,
                struct draft *d, struct err *err);

#endif
