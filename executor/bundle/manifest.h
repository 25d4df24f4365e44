/* manifest: manifest.json, the list of a bundle's files with their sizes and hashes. It is written last,
 * after everything it names is on the disk: where it is, the run is complete.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_MANIFEST_H
#define KERNSWEEP_EXECUTOR_BUNDLE_MANIFEST_H

#include "common/base/err.h"

int manifest_write(const char *dir, const char *run_id, struct err *err);

#endif
