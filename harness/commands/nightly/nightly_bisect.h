/* nightly_bisect: what a nightly run does about a confirmed regression if the plan says confirm.bisect:
 * searches the commits since the last night for the one that caused it, within confirm.bisect_minutes, and
 * goes on with the cells that this commit does not explain, until each has an answer. What the time did not
 * suffice for is a search in the store, with which the next night goes on.
 */
#pragma once

#include "harness/commands/base/finish.h"

/* A night whose comparison is confirmed. */
struct nightly_bisect {
    const struct plan *plan;           /* its file is absolute */
    const struct session_options *opt; /* of the night */
    const json_t *open_before;         /* the cells that were open before it (open_cells.h), or NULL */
};

/* Adds lines for people about what was found, or why nothing was searched, to lines. Returns how many cells
 * are left to the next night. Does nothing without confirm.bisect. Failures do not change the night's
 * outcome: they are such a line too. */
size_t nightly_bisect(const struct nightly_bisect *n, struct finish *f, json_t *lines);
