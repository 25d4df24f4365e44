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
#include "results/ingest/ingest.h"

#include <jansson.h>

/* Over what the mapping says; NULL: what it says. */
struct import_options {
    const char *ticket;
    const char *tag;
    const char *node;
    const char *date;
};

struct import_map {
    char name[RUN_NAME_MAX]; /* for messages: the built-in's name or the file */
    json_t *root;
};

/* word: the name of a built-in mapping, or a file. */
int import_map_load(struct import_map *m, const char *word, struct err *err);
void import_map_release(struct import_map *m);

/* The i-th built-in mapping, or NULL. */
const char *import_builtin_name(size_t i);
const char *import_builtin_about(size_t i);

/* One file, one run. */
int import_file(struct store *s, const struct import_map *m, const char *path,
                const struct import_options *options, struct ingest_result *out, struct err *err);
/* The part before the store. */
int import_read(const struct import_map *m, const char *path, const struct import_options *options,
                struct draft *d, struct err *err);

#endif
