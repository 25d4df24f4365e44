/* seal: a record of the files of a finished folder (sizes, times, hashes), by which damage is noticed when
 * the folder is used again: a power cut, or somebody who wrote to it. A file whose times differ but whose
 * contents are the same is intact; larger ones are judged by size and time of change alone. Looking at a
 * folder costs one call a file.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

enum { SEAL_REASON_MAX = 256 };

/* Which files count: in a build's folder, tests may add some; in sources, they may not (__pycache__
 * excepted). */
enum seal_scope { SEAL_LISTED, SEAL_WHOLE };

/* Syncs the folder's file system, then writes the seal to path; name (may be NULL): a file of the folder that
 * does not count. */
int seal_write(const char *dir, const char *path, const char *name, struct err *err);

/* What has changed since, or could not be read for a passing reason. */
struct seal_change {
    const char *name; /* as it is, any bytes; while the function is called */
    const char *how;  /* "has changed", "is gone", "was added", "is damaged", "could not be read (...)" */
    char what[SEAL_REASON_MAX]; /* "lib/x has changed", "lib/x is gone", "lib/x was added"; "" without a seal
                                 */
    bool added, unread;
};

/* Called for each change. */
typedef void seal_fn(void *arg, const struct seal_change *change);

/* Returns 1 intact, 0 not, -1 error, also when nothing has changed but something could not be read for a
 * passing reason. fn may be NULL. */
int seal_look(const char *dir, const char *path, enum seal_scope scope, seal_fn *fn, void *arg,
              struct err *err);
/* A seal_fn: arg is a char[SEAL_REASON_MAX], "" at first, for the first change. */
void seal_keep_first(void *arg, const struct seal_change *change);
/* Does as seal_look(); why: char[SEAL_REASON_MAX], the first change. */
int seal_check(const char *dir, const char *path, enum seal_scope scope, char *why, struct err *err);
