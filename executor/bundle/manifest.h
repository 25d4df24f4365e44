/* manifest: manifest.json, the list of a bundle's files with their sizes and hashes. It is written last, once
 * all that it lists is on disk: if it exists, the run is closed.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_MANIFEST_H
#define KERNSWEEP_EXECUTOR_BUNDLE_MANIFEST_H

#include "common/base/err.h"

int manifest_write(const char *dir, const char *run_id, struct err *err);

#endif
