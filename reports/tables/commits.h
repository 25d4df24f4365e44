/* commits: the subjects of a range of commits as a list. */
#ifndef KERNSWEEP_REPORTS_TABLES_COMMITS_H
#define KERNSWEEP_REPORTS_TABLES_COMMITS_H

#include "reports/render/markdown.h"
#include "reports/words/range.h"

/* One item for each commit that is listed, and one for how many are not. */
void commits_list(struct md *w, const struct commit_range *r);

#endif
