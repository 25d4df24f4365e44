/* ingest: stores the folder of a run, completely or not at all.
 *
 * Reads bundles (every file is verified against the manifest before it is used) and the B3.89 layout
 * (perf.json files with few keys, no manifest; the run id is derived from the contents and from the date,
 * ticket and tag in the path). Storing a run twice is idempotent. Everything in the folder is untrusted and
 * limited in size, type and range. Prints nothing. Errors: ERR_INPUT with the file and the place in it,
 * ERR_STORAGE.
 */
#pragma once

#include "results/ingest/draft/commit.h"

/* options may be NULL. */
int ingest_bundle(struct store *s, const char *dir, const struct ingest_options *options,
                  struct ingest_result *out, struct err *err);

/* Called for each folder in the order of the list; if it failed, r is NULL and err has the reason. */
typedef void ingest_told_fn(void *arg, const char *dir, const struct ingest_result *r, const struct err *err);

/* The same for many folders, which are read in parallel by threads that end before this returns. `told` is
 * called and the store is written by the caller's thread only; look-ups by other threads are serialised with
 * it. A folder that fails does not affect the others. */
int ingest_bundles(struct store *s, const char *const *dirs, size_t n, const struct ingest_options *options,
                   ingest_told_fn *told, void *arg, struct err *err);
