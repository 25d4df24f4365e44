/* git_tree: exports the sources of a commit to a temporary folder next to the store, without touching the
 * work tree.
 *
 * The files below the source folder are written as a checkout writes them, with its filters and line ends.
 * Folders that killed commands left are removed by the next export. A struct git_tree owns its folder, which
 * git_tree_release() removes. Errors: ERR_INPUT if the commit has no such folder, ERR_STORAGE.
 */
#pragma once

#include "common/base/temporary.h"

enum { GIT_MISSING_MAX = 256 };

struct git_tree {
    char dir[FS_PATH_MAX];         /* the source folder; "" when there is none */
    struct temporary folder;       /* what has it all */
    char files[FS_PATH_MAX];       /* the work tree in it */
    char missing[GIT_MISSING_MAX]; /* what the commit names and the folder lacks: submodules, files of Git
                                      LFS; "" for nothing */
};

/* source: a folder in a work tree. commit: a full id. under: the parent of the temporary folder. */
int git_tree_export(const char *source, const char *commit, const char *under, struct git_tree *out,
                    struct err *err);
void git_tree_release(struct git_tree *t);
