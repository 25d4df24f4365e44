/* relaxed: JSON as people write it: with comments (// to the end of the line, and between the usual C marks)
 * and a comma after the last entry. Both are replaced by spaces, so that every other byte keeps its line and
 * column.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_RELAXED_H
#define KERNSWEEP_HARNESS_PLAN_RELAXED_H

#include "common/base/json.h"

/* *changed: whether there was anything of the kind. ERR_INPUT for a comment that does not end. */
int relaxed_blank(char *text, size_t len, const char *file, bool *changed, struct err *err);

#endif
