/* archive: the members of a static library (ar). */
#pragma once

#include "executor/code/span.h"

bool archive_is(struct span file);
/* Gives the member at *at, which is 0 at first and is moved behind it. Returns false at the end. The table of
 * symbols and that of names are left out. */
bool archive_next(struct span file, size_t *at, struct span *out);
