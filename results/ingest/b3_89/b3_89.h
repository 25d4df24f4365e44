/* b3_89: reads the folder of a B3.89 executor into a draft. It is as untrusted as a bundle (bundle/bundle.h),
 * and nothing in it says what belongs to it.
 */
#pragma once

#include "results/ingest/draft/draft.h"

/* Fills info.run_id and info.content_sha256 only. */
int b3_89_identity(const char *dir, const struct ingest_options *options, struct run_info *out,
                   struct err *err);
int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err);
