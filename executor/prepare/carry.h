/* carry: which cells of a run that measures what changed are left out.
 *
 * A cell of the plan's tier "smoke" is measured. So is one that changed (its fingerprint is not the one that
 * it had when it was last measured, or is unknown) or is open. Of the others, CONTROLS_MIN are, by turns, and
 * those whose turn is one of the first "controls" of the job; the rest is carried. With a budget, a cell is
 * measured only while what is expected of it fits: first those that changed, then the open ones, then the
 * controls beyond the first CONTROLS_MIN, which are measured in any case. Tests that are left out count as
 * neither missing nor skipped.
 */
#pragma once

#include "executor/suite/suite.h"

/* To be called once all variants are prepared and the lanes are open, before the first test. A cell that an
 * earlier executor of the run began is measured. Does nothing unless the job has "controls". */
int carry_cells(struct suite *s, struct err *err);
/* Returns "cells" of summary.json, one of them for each cell of the run; NULL unless the job has "controls".
 */
json_t *carry_encode(const struct suite *s);
