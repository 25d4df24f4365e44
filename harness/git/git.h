/* git: runs the user's own git on a work tree. It, and no library, so that what the user set up holds:
 * worktrees, filters, partial clones, safe.directory. Nothing is changed in the repository: no optional
 * locks, no hooks, no fsmonitor, no prompts, no pager. Paths are literal, commits are what they are (no
 * replacements), and variables that name another repository (GIT_DIR in a hook) do not count. Every call has
 * a deadline and a largest output.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { GIT_ARGS_MAX = 32, GIT_DEADLINE_S = 60 };

/* Runs `git -C dir args...` (NULL-terminated, at most GIT_ARGS_MAX) and appends its output to out, up to
 * out->max. 0, or -1: ERR_INPUT with git's own words if git fails, ERR_STORAGE if it cannot be run. A word of
 * the user's goes after "--end-of-options" or "--", never where git would take it for an option. */
int git_output(const char *dir, const char *const *args, struct buf *out, struct err *err);
/* The same with a deadline of the caller's. */
int git_output_within(const char *dir, const char *const *args, double deadline_s, struct buf *out,
                      struct err *err);

/* Whether the bytes are a commit's id in full, of SHA-1 or SHA-256. */
bool git_is_id(const char *s, size_t len);

/* Whether git is installed and dir lies in a work tree; false also for a bare repository. */
bool git_has_work_tree(const char *dir);
