/* causes_find: the causes of each changed cell of a comparison, and of the common factor (docs/causes.md).
 *
 * Pure: the runs that stand for "before" come in loaded (causes_before() says which they are). Causes never
 * change a verdict. A difference that all cells share is not blamed for one of them while cells whose code
 * did not change stay where they were.
 */
#pragma once

#include "results/judge/causes/cause_input.h"
#include "results/judge/compare.h"

/* Whether a cell is to be explained: it changed, or confirming put it down to the node. */
bool causes_wanted(const struct comparison *c, const struct delta *d);
/* The row of the run that stands for "before": the base, or the newest night at the old level, if any with
 * tonight's code. d: NULL for the common factor. 0: none. */
int64_t causes_before(const struct causes_input *in, const struct comparison *c, const struct delta *d);

/* The row of the oldest of the last nights that all show tonight's change already: what differs only since
 * then did not cause it. 0: tonight is the first. */
int64_t causes_onset(const struct causes_input *in, const struct comparison *c, const struct delta *d);

/* *out is empty if nothing changed. Cells whose run before is missing from the input are left out. */
void causes_find(const struct causes_input *in, const struct comparison *c, struct causes *out);
