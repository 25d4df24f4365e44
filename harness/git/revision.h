/* revision: what a run records of the git work tree that its sources lie in: the commit, the branch, whether
 * and where the tree differed, and the last commits with their parents, so that the commits between two
 * nights can be named later from the bundles alone.
 *
 * All text of the repository is escaped, bounded and valid UTF-8. A description costs some seconds at most.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

enum { REVISION_LOG_MAX = 300, REVISION_FILES_MAX = 20 };

#define REVISION_DEADLINE_S 8.0

/* Describes the commit that is checked out in dir, an absolute path; as "source.git" of job.schema.json.
 * include: the paths below dir that are sent, NULL-terminated; NULL: all. Only files that are sent, untracked
 * ones among them, make the tree dirty; files that git ignores do not. *out, which the caller json_decref()s,
 * is NULL where there is nothing to say: dir lies in no work tree, its repository has no commit yet, or the
 * commit knows nothing of dir. -1 if there may be a commit and it could not be found out: git is missing,
 * refuses the repository, or takes too long. */
int revision_describe(const char *dir, const char *const *include, double deadline_s, json_t **out,
                      struct err *err);

/* Describes a commit of dir's repository, for sources that were exported from it: clean, and on no branch. */
int revision_describe_commit(const char *dir, const char *commit, double deadline_s, json_t **out,
                             struct err *err);
