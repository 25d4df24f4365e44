/* carried: the cells that a run did not measure because nothing changed that they depend on, as words. */
#pragma once

#include "common/base/buf.h"
#include "results/store/run_data.h"

/* Appends the cells that were measured on the same date as cell i: "v3 4096, v4 4096". Returns false, with
 * nothing appended, if an earlier one of the list was measured on that date. */
bool carried_list(const struct run_carried *cells, size_t count, size_t i, struct buf *out);
