/* forget: removes a closed run's folder from the node, after its bundle was pulled. A run that is not closed
 * is refused; one that does not exist is no error.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_FORGET_H
#define KERNSWEEP_EXECUTOR_COMMANDS_FORGET_H

#include "executor/workdir/layout.h"

int forget(const struct layout *layout, const char *run_id, struct err *err);

#endif
