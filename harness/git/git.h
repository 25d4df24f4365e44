/* git: runs the user's git on a work tree. It is used instead of a library so that the user's setup applies:
 * worktrees, filters, partial clones, safe.directory. It never changes the repository: no optional locks,
 * hooks, fsmonitor, prompts or pager. Paths are literal, replacements of commits are ignored, and so are
 * variables that name another repository (such as GIT_DIR in a hook). Every call has a deadline and a limit
 * on its output.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { GIT_ARGS_MAX = 32, GIT_DEADLINE_S = 60 };

/* Runs `git -C dir args...` (NULL-terminated, at most GIT_ARGS_MAX) and appends its output, up to out->max.
 * Returns 0, or -1: ERR_INPUT with git's message if git fails, ERR_STORAGE if it cannot be run. Words of the
 * user must follow "--end-of-options" or "--", so that git does not take them for options. */
int git_output(const char *dir, const char *const *args, struct buf *out, struct err *err);
/* Does what git_output() does, within deadline_s instead of GIT_DEADLINE_S. */
int git_output_within(const char *dir, const char *const *args, double deadline_s, struct buf *out,
                      struct err *err);

/* A call that reads words from its input, or has an index or a work tree of its own. */
struct git_call {
    const char *index, *work_tree; /* absolute; NULL: the repository's */
    const struct buf *input;       /* NULL: none */
    double deadline_s;
};
int git_run(const char *dir, const char *const *args, const struct git_call *call, struct buf *out,
            struct err *err);

/* Whether the bytes are a complete commit id (SHA-1 or SHA-256). */
bool git_is_id(const char *s, size_t len);

/* Returns 1 if dir lies in a work tree; 0 if not, as in a bare repository; -1 with git's words if git is not
 * installed, or refuses the repository. */
int git_work_tree(const char *dir, struct err *err);
