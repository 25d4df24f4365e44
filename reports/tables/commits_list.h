/* commits_list: the subjects of a range of commits as a list. */
#pragma once

#include "reports/render/markdown.h"
#include "reports/words/range.h"

/* One item for each commit that is listed, and one for how many are not. */
void commits_list(struct md *w, const struct commit_range *r);
