/* git_history: finds the commit of a revision, and lists the commits between two.
 *
 * A revision given by the user is passed to git after "--end-of-options". Subjects are untrusted text, which
 * must be escaped before showing it. Errors: as in git.h, and ERR_INPUT for a word that names no commit.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    GIT_COMMIT_MAX = 65,
    GIT_SUBJECT_MAX = 160,
    GIT_TIME_MAX = 32,
    GIT_RANGE_MAX = 4096,
    GIT_PARENTS_MAX = 16,
    GIT_COUNT_WITHOUT_MAX = 24
};

struct git_commit {
    char id[GIT_COMMIT_MAX]; /* of SHA-1 or SHA-256, in full */
    char subject[GIT_SUBJECT_MAX];
    char authored_at[GIT_TIME_MAX];  /* 2026-02-14T02:15:09.000Z; "" if unknown */
    size_t parents[GIT_PARENTS_MAX]; /* in a list: their indices in it, which are smaller than its own */
    size_t n_parents;                /* number of parents that are in the list */
    bool after_first;                /* of a range: the commit that it begins after is a parent, or, by first
                                        parents, was merged here */
};

struct git_range {
    bool first_parent; /* of merges, follow only the branch that was merged into */
    const char *path;  /* only commits that change it, relative to dir; NULL: all */
};

struct git_commits {
    struct git_commit *items; /* oldest first, each before its descendants */
    size_t count;
};

/* dir: a folder in a work tree, or a repository. */
int git_commit_find(const char *dir, const char *revision, struct git_commit *out, struct err *err);

/* Lists the commits that `to` has and `from` lacks. The last one is `to`, even if it does not change
 * range->path. ERR_INPUT if `from` is not an ancestor of `to`, if there are more than GIT_RANGE_MAX commits,
 * or if one of them merges more than GIT_PARENTS_MAX. The caller calls git_commits_release(). */
int git_commits_between(const char *dir, const char *from, const char *to, const struct git_range *range,
                        struct git_commits *out, struct err *err);
void git_commits_release(struct git_commits *l);

/* Counts the commits that `to` has and none of the first GIT_COUNT_WITHOUT_MAX of the n ids in `without` has.
 * All are ids. */
int git_commits_count(const char *dir, const char *to, const char *const *without, size_t n,
                      bool first_parent, size_t *out, struct err *err);
