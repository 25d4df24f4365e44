/* map: loads a mapping (kernsweep.map/1) by its path or the name of a built-in one, and checks it as
 * far as possible without a file to import. The owner calls import_map_release(). */
#pragma once

#include "results/store/run_data.h"

#include <jansson.h>

struct import_map {
    char name[RUN_NAME_MAX]; /* for messages: the built-in's name or the file */
    json_t *root;
};

/* word: the name of a built-in mapping, or a file. */
int import_map_load(struct import_map *m, const char *word, struct err *err);
void import_map_release(struct import_map *m);

/* The name of the i-th built-in mapping, or NULL. */
const char *import_builtin_name(size_t i);
/* Its one-line description, truncated to size. */
void import_builtin_about(size_t i, char *out, size_t size);

/* The built-in mappings, results/ingest/import/maps/NAME.json, compiled in. */
struct builtin_map {
    const char *name;
    const char *text;
};

extern const struct builtin_map builtin_maps[];
extern const int builtin_maps_count;
