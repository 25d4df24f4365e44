/* nights_page: index.html of the nightly runs: what is open, what is inconclusive, a sparkline per cell, and
 * the nights with their commits.
 *
 * Needs no script, no other file and no server. Pure: the same index gives the same bytes; the size is
 * bounded (PAGE_CELLS_MAX, PAGE_NIGHTS_MAX), and what is left out is counted.
 */
#pragma once

#include "common/base/buf.h"

#include <jansson.h>

struct nights_entry {
    char *path;      /* of the run's folder below root */
    json_t *summary; /* only what is shown: there may be years of nightly runs */
};

struct nights_index {
    struct nights_entry *items; /* newest first */
    size_t count, room;
    json_t *boards; /* board.h, by their file names */
};

/* "2026-11-21 12:19" of an ISO 8601 time. */
void nights_short_time(const char *iso, char *out, size_t size);

void nights_page_write(const struct nights_index *x, struct buf *out);
