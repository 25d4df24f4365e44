/* bisect_follow: what a search for several cells leaves to be searched. One search follows one cell; another
 * one may be slower because of another commit.
 *
 * If a commit was found, it is first measured for all the others at once: a search whose ends are that commit
 * and the good one before it. What it does not explain is searched for between the ends of the night, without
 * the cells that have their answer, until none is left. Pure but for bisect_follow_prepare().
 */
#ifndef KERNSWEEP_HARNESS_SESSION_BISECT_FOLLOW_H
#define KERNSWEEP_HARNESS_SESSION_BISECT_FOLLOW_H

#include "harness/session/bisect_state.h"

/* Sets what the request measures (its variants and contexts) to its wanted cells. */
void bisect_request_cells(struct bisect_request *r);

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

#endif
