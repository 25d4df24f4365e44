/* kernel_pairs: the kernels of one variant in two runs beside each other, by name: whose machine code
 * differs, and which only one of them has. Pure; the pairs borrow from the runs' details. The owner calls
 * kernel_pairs_release().
 */
#pragma once

#include "results/store/details.h"
#include "results/store/run_data.h"

struct kernel_pair {
    const struct run_kernel_code *before, *now; /* NULL: that run has no such kernel; never both */
    bool same;                                  /* machine code */
};

struct kernel_pairs {
    struct kernel_pair *items; /* by name */
    size_t count, cap, changed;
};

/* One variant of one run. */
struct kernel_side {
    const struct run_data *run;
    const struct run_details *details;
    const char *variant;
};

/* Empty where a run does not have the variant, or no kernels of it. */
void kernel_pairs_make(const struct kernel_side *before, const struct kernel_side *now,
                       struct kernel_pairs *out);
void kernel_pairs_release(struct kernel_pairs *p);
const char *kernel_pair_name(const struct kernel_pair *p);

/* One number of two kernels. */
struct kernel_fact {
    const char *group, *name; /* "resources", "vgprs" */
    int64_t before, now;      /* KERNEL_FACT_UNKNOWN where it is not known */
};

enum { KERNEL_FACTS = KERNEL_RESOURCES + 2 * INSTRUCTION_CLASSES };

/* The resources, the instructions by class, those of the hot loop. i: below KERNEL_FACTS. */
struct kernel_fact kernel_pair_fact(const struct kernel_pair *p, size_t i);
