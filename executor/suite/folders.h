/* folders: the folder of each variant's results, held where it is: tests can put something else in its place.
 */
#ifndef KERNSWEEP_EXECUTOR_SUITE_FOLDERS_H
#define KERNSWEEP_EXECUTOR_SUITE_FOLDERS_H

#include "executor/suite/suite.h"

/* Puts back, or makes anew, those that are not where they were, and says so in the journal. One that cannot
 * be had any more is `stuck`: nothing is written there. */
int folders_look(struct suite *s, struct err *err);
/* Makes the empty folder of a test, by that name in the journal if what cannot be removed was in its place.
 */
int folders_make(struct suite *s, struct held *h, const char *name, struct err *err);
/* Like folders_look(), for the folder of a test, called by that name in the journal if something is left
 * beside it. */
int folders_look_at(struct suite *s, struct held *h, const char *name, enum held_state *out, struct err *err);

#endif
