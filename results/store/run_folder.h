/* run_folder: whose bundle is in the folder that a run was read from. Names of folders are reused once they
 * are free, so a stored path may lead to another run by now.
 *
 * Only the bundle's own statement is read; whether its contents are whole is for the manifest to say.
 */
#pragma once

#include <stdbool.h>

/* Whether the folder has a manifest, and it names the run: what may be removed in the run's name. */
bool run_folder_is_of(const char *dir, const char *run_id);

/* Whether the folder is there and does not name another run: what may be read in the run's name. Folders of
 * other layouts than bundles name none. */
bool run_folder_may_be_of(const char *dir, const char *run_id);

/* Whether the folder is there and names another run. */
bool run_folder_was_reused(const char *dir, const char *run_id);
