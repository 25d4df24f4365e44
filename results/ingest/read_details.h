/* read_details: reads the gates, the list of files and the resources.json files of a bundle. */
#ifndef KERNSWEEP_RESULTS_INGEST_READ_DETAILS_H
#define KERNSWEEP_RESULTS_INGEST_READ_DETAILS_H

#include "common/base/json.h"
#include "results/ingest/manifest.h"
#include "results/store/details.h"

/* summary: of the same bundle. A bundle that is not closed yields nothing. */
int details_read(struct manifest *files, const struct json_at *summary, const struct run_variant *variants,
                 size_t n_variants, struct run_details *out, struct err *err);

#endif
