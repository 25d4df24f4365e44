/* maps: the built-in mappings, results/ingest/import/maps/NAME.json, compiled in. */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_MAPS_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_MAPS_H

struct builtin_map {
    const char *name;
    const char *text;
};

extern const struct builtin_map maps[];
extern const int maps_count;

#endif
