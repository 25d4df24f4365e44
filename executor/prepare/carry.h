/* carry: which cells of a run that measures what changed need not be measured: their fingerprint is the one
 * that they had when they were last measured, and the harness did not ask for them in any case. Of these, as
 * many as the job's "controls" are measured nonetheless, by turns; the others are carried: their tests are
 * left out, and count as neither missing nor skipped.
 */
#pragma once

#include "executor/suite/suite.h"

/* To be called once all variants are prepared, before the first test. A cell that an earlier executor of the
 * run began is not carried. Does nothing unless the job has "controls". */
int carry_unchanged(struct suite *s, struct err *err);
/* Returns "cells" of summary.json, one of them for each cell of the run; NULL unless the job has "controls".
 */
json_t *carry_encode(const struct suite *s);
