/* night_cells: the nights and the cells of a model as they were measured, before any level is known. For
 * nights.c only. Pure.
 */
#pragma once

#include "results/judge/nights/night_model.h"

/* out: empty; its owner releases what is filled in. */
void night_cells_fill(const struct history *h, enum metric m, struct nights *out);
