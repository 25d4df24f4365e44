/* readers: the layouts that a folder may have, each read into a draft.
 *
 * A reader believes nothing: names, sizes, types and hashes are checked, and the first thing wrong stops it
 * with the file and the place. It writes nothing. Identity is cheap to ask for: the whole folder is read only
 * when it is new.
 */
#ifndef KERNSWEEP_RESULTS_READERS_H
#define KERNSWEEP_RESULTS_READERS_H

#include "results/artifact.h"
#include "results/draft.h"
#include "results/ingest.h"
#include "results/samples.h"

enum layout { LAYOUT_BUNDLE, LAYOUT_B3_89 };

/* Which layout the folder has; an error when it is no run's folder. */
int layout_of(const char *dir, enum layout *out, struct err *err);

/* info.run_id and info.content_sha256 only. */
int bundle_identity(const char *dir, struct run_info *out, struct err *err);
int bundle_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err);

int b3_89_identity(const char *dir, const struct ingest_options *options, struct run_info *out,
                   struct err *err);
int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err);

/* Packs the samples of a file into the test, if there is one. */
int read_samples(const char *path, struct draft *d, struct draft_test *t, struct err *err);

#endif
