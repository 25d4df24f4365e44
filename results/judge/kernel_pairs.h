/* kernel_pairs: the kernels of one variant in two runs beside each other, by name: whose machine code
 * differs, which only one of them has, and which of these are the same code under another name. Pure; the
 * pairs borrow from the runs' details. The owner calls kernel_pairs_release().
 */
#pragma once

#include "results/store/details.h"
#include "results/store/run_data.h"

enum kernel_state {
    KERNEL_IDENTICAL,
    KERNEL_RENAMED, /* identical but for its name */
    KERNEL_MOVED,   /* the same, and only its namespace or class has another name */
    KERNEL_CHANGED,
    KERNEL_NEW,
    KERNEL_GONE,
    KERNEL_STATES
};

struct kernel_pair {
    const struct run_kernel_code *before, *now; /* NULL: that run has no such kernel; never both */
    enum kernel_state state;
};

struct kernel_pairs {
    struct kernel_pair *items;  /* by name, the present one if there is one */
    size_t count, cap, changed; /* changed: of other code, new or gone */
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
/* The present name, or of a kernel that is gone the last one. */
const char *kernel_pair_name(const struct kernel_pair *p);
/* The name that it had; NULL unless it was renamed or moved. */
const char *kernel_pair_former(const struct kernel_pair *p);
/* Whether its machine code is not what it was. */
bool kernel_pair_differs(const struct kernel_pair *p);
/* "identical", "renamed", "moved", "changed", "new", "gone" */
const char *kernel_state_name(enum kernel_state s);

/* One number of two kernels. */
struct kernel_fact {
    const char *group, *name; /* "resources", "vgprs" */
    int64_t before, now;      /* KERNEL_FACT_UNKNOWN where it is not known */
};

enum { KERNEL_FACTS = KERNEL_RESOURCES + 2 * INSTRUCTION_CLASSES };

/* The resources, the instructions by class, those of the hot loop. i: below KERNEL_FACTS. */
struct kernel_fact kernel_pair_fact(const struct kernel_pair *p, size_t i);
