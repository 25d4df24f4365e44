/* ingest: stores the folder of a run, completely or not at all.
 *
 * Takes bundles (every file is verified against the manifest before it is used) and the B3.89 layout
 * (perf.json files with few keys, no manifest; the run id is derived from the path's date, ticket and tag and
 * from the contents). Storing a run twice is idempotent. Everything in the folder is untrusted and limited in
 * size, type and range. Prints nothing. Errors: ERR_INPUT with the file and the place in it, ERR_STORAGE.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_INGEST_H
#define KERNSWEEP_RESULTS_INGEST_INGEST_H

#include "results/store/run_data.h"
#include "results/store/store.h"

enum ingest_outcome {
    INGEST_STORED,
    INGEST_ALREADY,  /* the same run with the same contents is in the store */
    INGEST_REPLACED, /* the stored one was not complete */
};

struct ingest_options {
    const char *node;  /* name for bundles that do not say theirs (B3.89); NULL: "unknown" */
    const char *date;  /* the date (2026-02-12) when the path holds none */
    bool skip_samples; /* leave telemetry out */
};

struct ingest_result {
    enum ingest_outcome outcome;
    int64_t key;
    char run_id[RUN_ID_MAX];
    int tests;
    int warnings;                 /* oddities that do not stop an ingest */
    char warning[RUN_REASON_MAX]; /* the first of them */
};

/* options may be NULL. */
int ingest_bundle(struct store *s, const char *dir, const struct ingest_options *options,
                  struct ingest_result *out, struct err *err);

/* Told of each folder in the order of the list; r is NULL when it failed, and err says why. */
typedef void ingest_told_fn(void *arg, const char *dir, const struct ingest_result *r, const struct err *err);

/* The same for many: several are read at a time, by threads that end before it returns; the store is used and
 * `told` called by the caller's thread alone, but for look-ups that never run beside it. A folder that fails
 * stops no other. */
int ingest_bundles(struct store *s, const char *const *dirs, size_t n, const struct ingest_options *options,
                   ingest_told_fn *told, void *arg, struct err *err);

#endif
