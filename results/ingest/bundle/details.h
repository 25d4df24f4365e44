/* details: reads the gates, the list of files, the resources.json files and the code identities of a bundle.
 */
#pragma once

#include "common/base/json.h"
#include "results/ingest/bundle/manifest.h"
#include "results/ingest/draft/draft.h"

/* Reads into d->details, after the variants. summary: of the same bundle. A bundle that is not closed yields
 * nothing; implausible values are left out with a warning. */
int details_read(struct manifest *files, const struct json_at *summary, struct draft *d, struct err *err);

/* Reads code.json of a variant, the code identity of its build: sets the identity of the variant, an index,
 * and adds its kernels to d->details; neither after an error. */
int code_read(const struct json_at *code, size_t variant, struct draft *d, struct err *err);
