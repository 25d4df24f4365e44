/* manifest: whether a bundle's folder holds exactly what its manifest.json names, byte for byte.
 *
 * The folder is foreign: names must be plain relative paths, hashes and sizes must match, a file that the
 * manifest does not name is refused as one that is missing. Errors: ERR_INPUT naming the file.
 */
#ifndef KERNSWEEP_RESULTS_MANIFEST_H
#define KERNSWEEP_RESULTS_MANIFEST_H

#include "common/err.h"

/* run_id: the run that it must be of, or NULL for any. */
int manifest_verify(const char *dir, const char *run_id, struct err *err);

#endif
