/* carried: the cells that a run left out, because nothing changed that they depend on or because its budget
 * did not suffice, as words. */
#pragma once

#include "common/base/buf.h"
#include "reports/words/message.h"
#include "results/store/run_data.h"

/* Appends the cells that were left out for the same reason as cell i, and measured on the same date: "v3
 * 4096, v4 4096". Returns false, with nothing appended, if an earlier one of the list is such a cell. */
bool carried_list(const struct run_carried *cells, size_t count, size_t i, struct buf *out);
/* What to say of them: {1} is the date, {2} the list. */
enum msg carried_msg(const struct run_carried *cell);
