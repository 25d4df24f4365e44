/* signals: keeps the signals of a process and of all that it starts among themselves, by Landlock's scopes
 * (Linux 6.12). Unlike a namespace of process ids it needs no process in between, so that what is sampled and
 * waited for stays the test itself. It also closes the memory and environment of other processes to it.
 */
#ifndef KERNSWEEP_EXECUTOR_CONTAIN_SIGNALS_H
#define KERNSWEEP_EXECUTOR_CONTAIN_SIGNALS_H

#include <stdbool.h>

/* For good, in this process and its descendants: in the child. 0, or errno; ENOSYS or EOPNOTSUPP where the
 * kernel cannot. */
int signals_keep_in(void);
/* Whether it holds here, tried in a child of our own. Before any other child is started. */
bool signals_can_be_kept(void);

#endif
