/* gpu_hints: what the store knows of a plan's cells on its node: the GPU that measured each last, and how
 * long a test of it took. They are hints for placement only, so a store that cannot be read gives none.
 */
#pragma once

#include "harness/plan/gpu_tests.h"

/* db: the store; NULL or one that does not exist: no hints. Release them also when there are none. */
void gpu_hints_load(struct gpu_hints *out, const char *db, const struct plan *p);
void gpu_hints_release(struct gpu_hints *h);
