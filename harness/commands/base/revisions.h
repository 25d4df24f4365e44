/* revisions: commits of runs, and the commits between two runs, as JSON and as text. Texts of repositories
 * are printed as the store has them, which is escaped.
 */
#pragma once

#include "reports/tables/commits_list.h"

#include <jansson.h>

/* Returns null for a run without a commit. The caller json_decref()s. */
json_t *revision_encode(const struct run_revision *r);
/* Returns null if one of the two commits is unknown. The caller json_decref()s. */
json_t *range_encode(const struct commit_range *r);

/* Appends "a1b2c3d..e4f5a6b, 3 commits", the short commit without a range, or nothing without a commit. */
void range_or_commit(const struct commit_range *r, struct buf *out);
/* Appends a line with the range after the given word; nothing if it is unknown. */
void range_print_head(const struct commit_range *r, const char *word, struct buf *out);
/* Appends that line, and one for the subject of each commit. */
void range_print(const struct commit_range *r, const char *word, struct buf *out);
/* Appends two lines about a run: its commit and its local changes. */
void revision_print(const struct run_revision *r, struct buf *out);
