/* bisect_request: turns a request into a search (its plan, cells and commits), and a search that has ended
 * into the one that follows it.
 *
 * One search follows one cell; another cell may be slower because of another commit. A commit that was
 * found is first checked for all other cells at once, in a search whose ends are that commit and the good
 * one before it. Cells that it does not explain are searched for between the ends of the night, until none
 * is left. Pure, except for the functions that read the plan or call git.
 */
#pragma once

#include "harness/session/bisect_state.h"

/* The request's plan, narrowed to its cells. ERR_INPUT if its sources lie in no git work tree. Call
 * plan_release() even after a failure. */
int bisect_load_plan(struct plan *p, const struct bisect_request *r, struct err *err);

/* Lists the commits of the request (good and bad as git names them) and names the search. b->request is
 * filled in; the rest is empty. ERR_INPUT for a plan without a git work tree, and for ends without a range.
 */
int bisect_prepare(struct bisect_state *b, const char *good, const char *bad, struct err *err);

/* The wanted cells that need another search, and their number; none if there is proven to be nothing to
 * find. */
size_t bisect_left(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX]);

/* Prepares the next search. *found is false, and next untouched, if none is needed. */
int bisect_follow_prepare(const struct bisect_state *b, struct bisect_state *next, bool *found,
                          struct err *err);
