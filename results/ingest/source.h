/* source: a folder that is to be ingested, whichever layout it has.
 *
 * Opening it is cheap and says whose it is; reading takes the rest. It knows no store, so that several may be
 * read at a time. The owner calls source_release(), also after an error; dir and options outlive the source.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_SOURCE_H
#define KERNSWEEP_RESULTS_INGEST_SOURCE_H

#include "results/ingest/readers.h"

enum layout { LAYOUT_BUNDLE, LAYOUT_B3_89 };

struct source {
    enum layout layout;
    const char *dir;
    const struct ingest_options *options;
    struct bundle bundle; /* LAYOUT_BUNDLE */
};

/* out: run_id and content_sha256 only. An error when it is no run's folder. */
int source_open(struct source *f, const char *dir, const struct ingest_options *options, struct run_info *out,
                struct err *err);
/* Once, after it was opened. */
int source_read(struct source *f, struct draft *d, struct err *err);
void source_release(struct source *f);

#endif
