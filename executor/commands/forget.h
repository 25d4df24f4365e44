/* forget: removes a closed run's folder from the node, when whoever pulled it needs it no more. A run that is
 * not closed is refused; one that is not there is forgotten already.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_FORGET_H
#define KERNSWEEP_EXECUTOR_COMMANDS_FORGET_H

#include "executor/workdir/layout.h"

int forget(const struct layout *layout, const char *run_id, struct err *err);

#endif
