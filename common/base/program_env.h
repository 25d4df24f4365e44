/* program_env: what passes of our environment to the programs that kernsweep starts for itself. Their
 * settings would change their answers: SQUEUE_PARTITION hides jobs, TAR_OPTIONS leaves files out. Tests and
 * builds get the plan's environment instead (environment.h), and the user's own commands all of it.
 */
#pragma once

#include "common/base/strvec.h"

#include <stdbool.h>

/* Fills env for a program, named by its file or path. Returns false, and adds nothing, for one that is not in
 * the list. */
bool program_env(const char *program, struct strvec *env);
