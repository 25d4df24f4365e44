/* named_files: adds the files and folders that a text names to a hash: by their size, times and place on the
 * disk, which change whenever a file is written or replaced, and not by their contents, which may be large.
 * A model that was copied anew counts as another one.
 */
#pragma once

#include "common/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>

enum { NAMED_FILES_MAX = 20000 };

struct named_files {
    struct sha256 *hash; /* borrowed, as all of it */
    const char *cwd;     /* what relative names are relative to; "": they name nothing */
    const char *known;   /* a folder whose files are known otherwise */
    char *why;           /* char[REASON_MAX]: set where a folder cannot be known */
    size_t count;        /* of files so far */
};

/* text: one word of a command, or the value of a variable: a path, a list of paths, OPTION=PATH; NULL: none.
 */
void named_files_add(struct named_files *f, const char *text);
/* Adds one file, or a link's target; false: it is not there. */
bool named_files_stat(struct sha256 *h, const char *path);
