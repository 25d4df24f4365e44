/* readers: the layouts that a folder may have, each read into a draft.
 *
 * A reader believes nothing: names, sizes, types and hashes are checked, and the first thing wrong stops it
 * with the file and the place. It writes nothing. Identity is cheap to ask for: the whole folder is read only
 * when it is new.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_READERS_H
#define KERNSWEEP_RESULTS_INGEST_READERS_H

#include "results/ingest/artifact.h"
#include "results/ingest/draft.h"
#include "results/ingest/ingest.h"
#include "results/ingest/manifest.h"
#include "results/store/samples.h"

/* A bundle of ours that is being read; its job is needed for its identity already. */
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
