/* cause_kernels: whether a variant has the same machine code as in another run, and how its kernels differ.
 * Pure. */
#pragma once

#include "results/judge/causes/cause_differences.h"

/* Unknown if either run lacks the identity of the variant's build, or if the identities are of different
 * things. *of_device: whether the identity is that of device code. */
enum cause_code cause_code_state(const struct run_data *before, const struct run_data *now,
                                 const char *variant, bool *of_device);

/* Counts the kernels that differ into *out, and keeps those that differ most. */
void cause_list_kernels(const struct cause_run *before, const struct cause_run *now, const char *variant,
                        struct cause *out);
