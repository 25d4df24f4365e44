/* revision: what a run records about the git work tree that contains its sources: the commit, the branch,
 * whether and where the tree differed, and the last commits with their parents, so that the commits between
 * two nights can be listed later from the bundles alone.
 *
 * All text from the repository is escaped, bounded and valid UTF-8. A description takes a few seconds at
 * most.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

enum { REVISION_LOG_MAX = 300, REVISION_FILES_MAX = 20 };

#define REVISION_DEADLINE_S 8.0

/* Describes the checked-out commit of dir, an absolute path, in the form of "source.git" in job.schema.json.
 * include: the paths below dir that are sent, NULL-terminated; NULL: all. The tree is dirty if files that are
 * sent have changed or are untracked, unless git ignores them. The caller json_decref()s *out, which is NULL
 * if dir is in no work tree, if its repository has no commit yet, or if the commit does not contain dir.
 * Returns -1 if there may be a commit that could not be determined: git is missing, refuses the repository,
 * or takes too long. */
int revision_describe(const char *dir, const char *const *include, double deadline_s, json_t **out,
                      struct err *err);

/* Describes a commit of dir's repository for sources exported from it, which are clean and on no branch. */
int revision_describe_commit(const char *dir, const char *commit, double deadline_s, json_t **out,
                             struct err *err);
