/* git_files: the files of a folder that belong to its sources: those that git tracks, and those that it
 * neither tracks nor ignores. Submodules and repositories within the folder are listed in the same way. What
 * git ignores is left out, unless the list of what to send names it, or a folder that has nothing else.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct git_file {
    char *path;   /* below the folder; that of a folder stands for all that is in it */
    bool settled; /* as the commit has it, so that its time means nothing */
};

struct git_files {
    struct git_file *items;
    size_t count, cap;
};

/* include: as for revision_describe(). Returns 1; 0 if dir is no part of a work tree, or git ignores all of
 * it; -1 if that cannot be told. The caller calls git_files_release() in any case. */
int git_files_list(const char *dir, const char *const *include, struct git_files *out, struct err *err);
void git_files_release(struct git_files *f);

/* Whether a path below the folder is sent: not kernsweep's own folders, nor what is not tracked in a folder
 * named "build", unless include names it. */
bool git_file_is_sent(const char *const *include, const char *path, bool tracked);
/* The names that are left out, of a tree that git wrote and of one that it does not know. NULL-terminated. */
extern const char *const git_own_folders[], *const git_built_folders[];
