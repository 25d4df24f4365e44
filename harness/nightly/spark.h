/* spark: the series of one cell as a small SVG: a line of its nights, a dashed line at each change of level,
 * a ring for each night set aside, and a point for the newest. Takes its colours from the page. Pure.
 */
#pragma once

#include "common/base/buf.h"

#include <jansson.h>

/* cell: of a board (board.h); nights: how many places the axis has; label: what it is, for people who cannot
 * see it, not escaped yet. Appends nothing for a cell without a series. */
void spark_write(const json_t *cell, size_t nights, const char *label, struct buf *out);
