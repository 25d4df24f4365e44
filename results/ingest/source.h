/* source: a folder to be ingested, in either layout.
 *
 * source_open() is cheap and identifies the run; source_read() reads the rest. Does not use the store, so
 * that several folders can be read in parallel. The owner calls source_release(), also after an error; dir
 * and options must outlive the source.
 */
#pragma once

#include "results/ingest/b3_89/b3_89.h"
#include "results/ingest/bundle/bundle.h"

enum layout { LAYOUT_BUNDLE, LAYOUT_B3_89 };

struct source {
    enum layout layout;
    const char *dir;
    const struct ingest_options *options;
    struct bundle bundle; /* LAYOUT_BUNDLE */
};

/* Fills run_id and content_sha256 of out. */
int source_open(struct source *f, const char *dir, const struct ingest_options *options, struct run_info *out,
                struct err *err);
/* At most once after source_open(). */
int source_read(struct source *f, struct draft *d, struct err *err);
void source_release(struct source *f);
