/* nightly_bisect: what a night does about a confirmed regression if the plan has confirm.bisect: it searches
 * the commits since the last night for the cause, for at most confirm.bisect_minutes, and continues with the
 * cells that this commit does not explain, until each has an answer. The next night resumes searches that
 * were not finished in time.
 */
#pragma once

#include "harness/commands/base/finish.h"

/* A night whose comparison has been confirmed. */
struct nightly_bisect {
    const struct plan *plan;           /* its file is absolute */
    const struct session_options *opt; /* of the night */
    const json_t *open_before;         /* cells that were open before this night (open_cells.h), or NULL */
};

/* Appends lines for people about what was found, or why nothing was searched, to lines. Returns the number of
 * cells left to the next night. Does nothing without confirm.bisect. Failures are reported as such lines too
 * and do not change the night's outcome. */
size_t nightly_bisect(const struct nightly_bisect *n, struct finish *f, json_t *lines);
