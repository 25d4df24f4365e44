/* diff_revisions: `kernsweep diff --revs A..B PLAN`: builds a plan's variants from two commits of its
 * source.dir on this machine and compares their kernels. No GPU is used, nothing is measured, and neither the
 * store nor the node keeps anything but the cached builds.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "results/judge/kernel_pairs.h"

/* range: "A..B"; an end that is missing is HEAD. Returns 0 if all code is the same, 1 if some is not, or is
 * not known to be, 2 if a variant does not build, or -1 with err. */
int diff_revisions(struct cmd_env *env, const char *plan, const char *range, const char *variants,
                   struct err *err);

/* Encodes a kernel with its state, its former name and its facts on both sides; the caller json_decref()s. */
json_t *diff_encode_kernel(const struct kernel_pair *p);
