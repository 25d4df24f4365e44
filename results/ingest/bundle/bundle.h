/* bundle: reads the bundle that an executor wrote into a draft.
 *
 * Bundles are untrusted: names, sizes, types and hashes are checked, and the first error stops the reader,
 * with the file and the place. Reading the identity is cheap; the whole folder is read only if the run is
 * new.
 */
#pragma once

#include "results/ingest/bundle/manifest.h"
#include "results/ingest/draft/draft.h"

/* A bundle that is being read; the job is loaded first, because it contains the identity. */
struct bundle {
    struct manifest files;
    const json_t *job;
    char job_file[FS_PATH_MAX]; /* for messages */
};

/* Fills info.run_id and info.content_sha256 only. The owner calls bundle_release(), also after an error. */
int bundle_open(struct bundle *b, const char *dir, struct run_info *out, struct err *err);
int bundle_read(struct bundle *b, const struct ingest_options *options, struct draft *d, struct err *err);
void bundle_release(struct bundle *b);
