/* read_details: the gates and files of a bundle whose manifest was verified, and its resources.json.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_READ_DETAILS_H
#define KERNSWEEP_RESULTS_INGEST_READ_DETAILS_H

#include "common/base/json.h"
#include "results/ingest/manifest.h"
#include "results/store/details.h"

/* summary: of the same bundle. A run that is still open gives nothing. */
int details_read(struct manifest *files, const struct json_at *summary, const struct run_variant *variants,
                 size_t n_variants, struct run_details *out, struct err *err);

#endif
