/* git_history: names a revision, and lists the commits between two.
 *
 * A user's word for a revision reaches git only behind "--end-of-options". Subjects are untrusted text:
 * whoever shows them escapes them. Errors: as git.h, ERR_INPUT for a word that names no commit.
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
    size_t parents[GIT_PARENTS_MAX]; /* of a list: their places in it, before its own */
    size_t n_parents;                /* that the list has too */
    bool after_first;                /* of a range: the commit that it begins after is a parent, or, by first
                                        parents, was merged here */
};

struct git_range {
    bool first_parent; /* of a merge, only the branch that it was merged into */
    const char *path;  /* only commits that change it, relative to dir; NULL: all */
};

struct git_commits {
    struct git_commit *items; /* oldest first, each before its descendants */
    size_t count;
};

/* dir: a folder in a work tree, or a repository. */
int git_commit_find(const char *dir, const char *revision, struct git_commit *out, struct err *err);

/* The commits that `to` has and `from` has not; `to` is the last one, even if it leaves `range->path` as it
 * was. ERR_INPUT if `from` is no ancestor of `to`, there are more than GIT_RANGE_MAX, or
 * one of them merges more than GIT_PARENTS_MAX. The caller calls
 * git_commits_release(). */
int git_commits_between(const char *dir, const char *from, const char *to, const struct git_range *range,
                        struct git_commits *out, struct err *err);
void git_commits_release(struct git_commits *l);

/* How many commits `to` has that none of the n ids has, of which those beyond GIT_COUNT_WITHOUT_MAX are left
 * out. All are ids. */
int git_commits_count(const char *dir, const char *to, const char *const *without, size_t n,
                      bool first_parent, size_t *out, struct err *err);
