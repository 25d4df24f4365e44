/* revisions: commits of runs, and the commits between two runs, as JSON and as lines for people. Prints text
 * of repositories only as the store has it: escaped.
 */
#pragma once

#include "reports/tables/commits_list.h"

#include <jansson.h>

/* null for a run without a commit. The caller json_decref()s. */
json_t *revision_encode(const struct run_revision *r);
/* null where the commit of one of the two is not known. The caller json_decref()s. */
json_t *range_encode(const struct commit_range *r);

/* "a1b2c3d..e4f5a6b, 3 commits"; the short commit alone where there is no range, "" without a commit. */
void range_or_commit(const struct commit_range *r, struct buf *out);
/* A line with the range after the given word. Nothing where it is not known. */
void range_print_head(const struct commit_range *r, const char *word, struct buf *out);
/* The same, and a line for each subject. */
void range_print(const struct commit_range *r, const char *word, struct buf *out);
/* Two lines of a run: its commit, and its local changes. */
void revision_print(const struct run_revision *r, struct buf *out);
