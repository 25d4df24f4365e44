/* bisect_request: what is searched: from the words of a request to a plan, its cells and the commits, and
 * from a search for several cells that has ended to the one that comes next.
 *
 * One search follows one cell; another cell may be slower because of another commit. If a commit was found,
 * it is first measured for all the other cells at once: a search whose ends are that commit and the good one
 * before it. What it does not explain is searched for between the ends of the night, without the cells that
 * have their answer, until none is left. Pure, except where a function reads the plan and asks git.
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

/* Where the cell is among those that are slower at the bad end; NULL if it is not. */
const struct bisect_cell *bisect_find_cell(const struct bisect_state *b, const struct bisect_wanted *w);

/* Whether the search only asks if the commit that another one found explains further cells. */
bool bisect_is_check(const struct bisect_state *b);

/* The wanted cells whose commit or range an ended search has found, by their places in b->request.wanted. */
void bisect_explained(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX]);
/* Those that another search is needed for: none after one that proves that there is nothing to find. */
size_t bisect_left(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX]);

/* The search that comes next. *found is false if none is needed: next is then left alone. */
int bisect_follow_prepare(const struct bisect_state *b, struct bisect_state *next, bool *found,
                          struct err *err);
