/* bundle: how a document names a run's bundle and links to the files in it. */
#ifndef KERNSWEEP_REPORTS_SECTIONS_BUNDLE_H
#define KERNSWEEP_REPORTS_SECTIONS_BUNDLE_H

#include "reports/render/markdown.h"
#include "results/store/run_data.h"

/* From "artifacts_remote/" on, else the path as stored. "" when unknown. */
const char *bundle_name(const struct run_info *info);
/* What a link of this document to a file of the bundle has as its target. */
void bundle_link(const struct md *w, const struct run_info *info, const char *file, char *out, size_t size);

#endif
