/* bundle: the path by which a document names a run's bundle and links to its files. */
#pragma once

#include "reports/render/markdown.h"
#include "results/store/run_data.h"

/* From "artifacts_remote/" on, otherwise the path as stored. "" if unknown. */
const char *bundle_name(const struct run_info *info);
/* The target of a link from this document to a file in the bundle. */
void bundle_link(const struct md *w, const struct run_info *info, const char *file, char *out, size_t size);
