/* changed_code: the kernels of a run whose machine code is not that of the run before it. */
#pragma once

#include "results/judge/kernel_pairs.h"
#include "results/store/store.h"

struct changed_variant {
    size_t variant; /* index into the later run's variants */
    struct kernel_pairs pairs;
};

struct changed_code {
    struct run_data run; /* the earlier one, of which the pairs are a part */
    struct run_details details;
    struct changed_variant *items; /* variants with such kernels */
    size_t count;
};

/* before: the store's row of the earlier run. The caller calls changed_code_release(), also after errors. */
int changed_code_load(struct store *s, int64_t before, const struct run_data *now,
                      const struct run_details *details, struct changed_code *out, struct err *err);
void changed_code_release(struct changed_code *c);
