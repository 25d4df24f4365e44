/* tree: a folder of the cache that is whole: staged sources, patched copies of them, the copy that a build
 * was made in. Once finished it is read-only for its owner, too, and has a seal in <workdir>/seals/, outside
 * of it, so that it holds nothing but what was put there.
 */
#pragma once

#include "common/base/temporary.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/seal.h"

#define TREE_STAGED "src"
#define TREE_PATCHED "patched"
#define TREE_OWN "tree" /* of a build, or shared by those that ask for it */

/* Makes a folder in <workdir>/<kind>/ for a tree that is not whole yet, which is renamed once it is. inner:
 * char[FS_PATH_MAX], where to make it. */
int tree_temporary(const struct layout *l, const char *kind, struct temporary *t, char *inner,
                   struct err *err);
/* Removes what killed commands left of such folders, and of executors. Returns an array of the paths that had
 * to stay. */
json_t *tree_sweep(const struct layout *l);

/* Sets the mode bits of its files and folders, as far as they can be reached; links are left alone. */
void tree_set_writable(const char *dir, bool writable);
/* Makes <workdir>/<kind>/<name> read-only and seals it. */
int tree_close(const struct layout *l, const char *kind, const char *name, struct err *err);
/* Returns 1 as it was sealed, 0 not (why: char[SEAL_REASON_MAX]; "" when it has no seal), -1 error. */
int tree_check(const struct layout *l, const char *kind, const char *name, char *why, struct err *err);
int tree_look(const struct layout *l, const char *kind, const char *name, seal_fn *fn, void *arg,
              struct err *err);
/* Forgets the seal of a tree that is removed. */
void tree_unseal(const struct layout *l, const char *kind, const char *name);
/* Sums the sizes of its files. */
int tree_bytes(const char *dir, uint64_t *bytes, struct err *err);
