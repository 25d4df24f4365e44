/* manifest: manifest.json, the list of a bundle's files with their sizes and hashes. It is written last, once
 * all that it lists is on disk: if it exists, the run is closed.
 *
 * A bundle consists of the regular files of the run's folder, except hidden ones and the executor's own log.
 * What tests and builds leave is left out where it could not be brought home or would be too much; what
 * kernsweep itself writes is not, up to the limits of common/contract/bundle_limits.h.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"
#include "executor/bundle/secrets.h"

#include <jansson.h>
#include <stdbool.h>

/* Whether the run in that folder is closed, as far as a file can tell: tests can make one, too, while it
 * runs.
 */
bool manifest_is_there(const char *dir);
/* Writes the manifest in the place of whatever a test gave that name. What tests left is listed only if
 * neither its name nor its contents hold a secret. */
int manifest_write(const char *dir, const char *run_id, const struct secrets *secrets, struct err *err);
/* Takes what tests left and somebody has changed since off the list of a closed run, with the reason: one
 * such file must not keep the run from being collected. manifest: as read from dir, changed in place; the
 * file is written only if there was one. What kernsweep wrote stays on the list. */
int manifest_refresh(const char *dir, json_t *manifest, struct err *err);

/* Whether a test or a build left the file, and not kernsweep. path: in the run's folder. */
bool contents_is_foreign(const char *path);

/* fn is called in byte order of the paths; left_out (may be NULL) for what is not in the bundle, with the
 * reason. */
int contents_walk(const char *dir, fs_walk_fn *fn, fs_skipped_fn *left_out, void *arg, struct err *err);
