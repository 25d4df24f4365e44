/* open_cells: the cells in which a nightly run found a regression or failure that no later one has cleared.
 *
 * A cell is closed by a verdict that clears it (unchanged, improved, fixed, refuted), never by an
 * inconclusive one, nor by a night that did not measure it. Pure: an array of {"variant", "context",
 * "since"}, which nightly_state stores between nightly runs.
 */
#pragma once

#include "results/judge/compare.h"

#include <jansson.h>

/* The open cells after this comparison. before: those of the last nightly run, or NULL; night: the date of
 * this one. The caller json_decref()s it. */
json_t *open_cells_after(const json_t *before, const struct comparison *c, const char *night);

/* The cell of that name in an array of objects with a "variant" and a "context"; NULL if it has none. */
json_t *open_cells_find(const json_t *cells, const char *variant, int context);

/* How many of the open cells the comparison says nothing about: they were not measured. */
size_t open_cells_unmeasured(const json_t *open, const struct comparison *c);
/* Closes those: for a comparison with another baseline than that against which they were found. */
void open_cells_drop_unmeasured(json_t *open, const struct comparison *c);

/* How many of the open cells are inconclusive in this comparison. Appends a line for people about each to
 * lines. */
int open_cells_undecided(const json_t *open, const struct comparison *c, json_t *lines);

/* Whether the nightly run as a whole says too little to call it quiet: more than half of the cells that were
 * compared are inconclusive. */
bool open_cells_mostly_noisy(const struct comparison *c);
