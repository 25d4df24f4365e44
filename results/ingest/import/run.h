/* run: the properties of an imported run as a whole, from the mapping and the command line: ticket,
 * tag, node, mode, date and facts. For import.c only. */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_RUN_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_RUN_H

#include "results/ingest/draft/draft.h"
#include "results/ingest/import/value.h"

/* The texts override the mapping unless NULL. */
struct import_options {
    const char *ticket;
    const char *tag;
    const char *node;
    const char *date;
    bool replace; /* replace a stored run of the same files that was read in another way */
};

/* s: the whole file. options may be NULL. */
int import_run(const struct import_scope *s, const json_t *map, const struct import_options *options,
               struct draft *d, struct err *err);
/* "metrics" of the mapping; where their values are is said by "test". file: for messages. */
int import_own_metrics(const json_t *map, const char *file, struct draft *d, struct err *err);

#endif
