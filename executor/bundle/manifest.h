/* manifest: manifest.json, the list of a bundle's files with their sizes and hashes. It is written last, once
 * all that it lists is on disk: if it exists, the run is closed.
 */
#pragma once

#include "common/base/err.h"
#include "executor/bundle/secrets.h"

#include <jansson.h>
#include <stdbool.h>

/* Whether the run in that folder is closed, as far as a file can tell: tests can make one, too, while it
 * runs.
 */
bool manifest_is_there(const char *dir);
/* In the place of whatever a test gave that name. What tests left is listed only if neither its name nor its
 * contents hold a secret. */
int manifest_write(const char *dir, const char *run_id, const struct secrets *secrets, struct err *err);
/* Takes what tests left and somebody has changed since off the list of a closed run, with the reason: one
 * such file must not keep the run from being collected. manifest: as read from dir, changed in place; the
 * file is written only if there was one. What kernsweep wrote stays on the list. */
int manifest_refresh(const char *dir, json_t *manifest, struct err *err);
