/* mark: what an executor puts into the environment of the tests that it starts, so that a later executor of
 * the same workdir can tell its leftovers from everything else on the machine: a random token, kept in the
 * workdir, with the workdir's device and inode. A path would not do: in another mount namespace the same path
 * is another folder, whose tests are none of ours.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <stdbool.h>

#define MARK_VARIABLE "KERNSWEEP_WORKDIR_MARK"
enum { WORKDIR_MARK_MAX = 96 };

/* Gives the workdir's mark, made if it has none yet. out: char[WORKDIR_MARK_MAX]. */
int mark_make(const struct layout *l, char *out, struct err *err);
/* Returns false if the workdir has none: then no test was started from it. */
bool mark_read(const struct layout *l, char *out);
