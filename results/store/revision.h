/* revision: the commit that a run's sources were taken from, and the commits that runs know of.
 *
 * Commits are shared by all runs: each adds those that no run before it knew, so that the store knows more
 * and more of a repository's history. Everything is read from bundles, so it is untrusted, and bounded here.
 * Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/sql.h"

enum { COMMIT_PARENTS_MAX = 16, COMMIT_LOG_MAX = 1000 };

struct commit {
    char id[COMMIT_ID_MAX];
    char parents[COMMIT_PARENTS_MAX * COMMIT_ID_MAX]; /* separated by spaces */
    char subject[RUN_SUBJECT_MAX];
    char author[RUN_NAME_MAX];
    char authored_at[CLOCK_ISO_LEN + 1]; /* "" when unknown */
};

struct commit_list {
    struct commit *items;
    size_t count, cap;
};

void commit_list_release(struct commit_list *l);

/* 40 or 64 lower-case hex digits. */
bool commit_is_id(const char *s);

/* Called inside the caller's transaction. Stores nothing if the commit is not known. */
int revision_store(struct store *s, int64_t run_key, const struct run_revision *r,
                   const struct commit_list *log, struct err *err);
/* 1 if the commit is known, 0 if not, -1 with err. */
int commit_load(struct store *s, const char *id, struct commit *out, struct err *err);

/* Loads the revision of a stored run, which is empty if there is none. */
int revision_load(struct store *s, int64_t run_key, struct run_revision *out, struct err *err);

/* The columns of run_revision (g) that revision_read() reads, and the join with a run (r). */
#define REVISION_COLUMNS                                                                                     \
    "g.commit_id, g.branch, g.subject, g.authored_at, coalesce(g.dirty, 0) AS dirty, g.dirty_files"
#define REVISION_JOIN " LEFT JOIN run_revision g ON g.run_id = r.id "
void revision_read(struct sql_stmt *stmt, struct run_revision *out);
