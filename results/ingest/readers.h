/* readers: one reader per layout of a run's folder; each fills a draft.
 *
 * Folders are untrusted: names, sizes, types and hashes are checked, and the first error stops the reader,
 * with the file and the place. Reading the identity is cheap; the whole folder is read only if the run is
 * new.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_READERS_H
#define KERNSWEEP_RESULTS_INGEST_READERS_H

#include "results/ingest/artifact.h"
#include "results/ingest/draft.h"
#include "results/ingest/ingest.h"
#include "results/ingest/manifest.h"
#include "results/store/samples.h"

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

int b3_89_identity(const char *dir, const struct ingest_options *options, struct run_info *out,
                   struct err *err);
int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err);

#endif
