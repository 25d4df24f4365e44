/* ab_rounds: what the verdicts of a cell after each round of `ab` come to. A change is reported once two
 * rounds have found it, as each round is another chance for a false alarm. Pure.
 */
#pragma once

#include "harness/commands/measure/ab_output.h"

/* To be called with the verdict on all rounds so far: says whether another round may still decide. */
void ab_rounds_note(struct ab_cell *c, int64_t rounds_max);
/* To be called when no round follows: a change that only the last one found is not confirmed, unless only one
 * was allowed. */
void ab_rounds_end(struct ab_cell *c, int64_t rounds_max);
