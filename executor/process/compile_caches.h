/* compile_caches: the folder in which programs that compile kernels while they run keep them. Each build has
 * its own, so that no test runs what another build's tests compiled.
 */
#pragma once

#include "common/base/strvec.h"

#include <stdbool.h>

/* Names the folder, which must exist, in the variables of the known caches. What is only downloaded (models)
 * stays where it is. */
void compile_caches_set(struct strvec *env, const char *folder);
/* Returns how many files the caches have; -1 if that cannot be known: they are not there, or the environment
 * names others. */
int compile_caches_count(const struct strvec *env, const char *folder);
