/* code: reads code.json of a variant, the code identity of its build. */
#ifndef KERNSWEEP_RESULTS_INGEST_BUNDLE_CODE_H
#define KERNSWEEP_RESULTS_INGEST_BUNDLE_CODE_H

#include "common/base/json.h"
#include "results/ingest/draft/draft.h"

/* Sets the identity of the variant, an index, and adds its kernels to the draft's details; neither after an
 * error. */
int code_read(const struct json_at *code, size_t variant, struct draft *d, struct err *err);

#endif
