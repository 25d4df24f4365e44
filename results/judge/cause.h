/* cause: what explains a change that a comparison found, with its evidence: plain data.
 *
 * A cause stands beside a verdict and never changes it. causes_find.h finds causes; this knows only what they
 * are. The owner of a struct causes calls causes_release().
 */
#pragma once

#include "common/contract/kernel_facts.h"
#include "results/store/run_data.h"

enum {
    CAUSE_CHANGES_MAX = 4, /* listed; all are counted */
    CAUSE_KERNELS_MAX = 2,
    CAUSE_TEXT_MAX = 96,
    CAUSE_KERNEL_NAME_MAX = 128,
};

enum cause_kind {
    CAUSE_CODE,        /* the machine code differs */
    CAUSE_TOOLCHAIN,   /* a compiler, or how the build calls it */
    CAUSE_ENVIRONMENT, /* driver, firmware, operating system, settings of the GPU, variables of the tests */
    CAUSE_CLOCK,       /* the GPU ran at another clock */
    CAUSE_NODE,        /* cells whose code did not change moved as well */
    CAUSE_NEIGHBOURS,  /* other processes on the GPU */
    CAUSE_METHOD,      /* measured in another way, or on another GPU */
    CAUSE_UNEXPLAINED, /* nothing that was recorded explains it, or the rest of it */
    CAUSE_KINDS
};

enum cause_certainty {
    CAUSE_COINCIDES,   /* differs as well, and could explain the change; others could too */
    CAUSE_ESTABLISHED, /* measured, or the only difference to cells that did not change */
    CAUSE_CERTAINTIES
};

/* Whether the code of a cell is that of the run before. */
enum cause_code {
    CAUSE_CODE_UNKNOWN,
    CAUSE_CODE_SAME,
    CAUSE_CODE_DIFFERS,
};

/* What a difference of code is known by. */
enum cause_by {
    CAUSE_BY_DEVICE,  /* the machine code of the kernels */
    CAUSE_BY_FILES,   /* the files that the build made */
    CAUSE_BY_SOURCES, /* the source tree or its patches; the code itself is unknown */
    CAUSE_BYS
};

/* A fact, a key of the plan, or a compiler that differs. "" where it was not set. */
struct cause_change {
    char key[CAUSE_TEXT_MAX];
    char before[CAUSE_TEXT_MAX];
    char now[CAUSE_TEXT_MAX];
};

struct cause_changes {
    struct cause_change items[CAUSE_CHANGES_MAX]; /* the first ones */
    size_t count;                                 /* of all */
};

struct cause_kernel {
    char name[CAUSE_KERNEL_NAME_MAX];
    bool in_before, in_now;
    struct kernel_facts before, now;
};

/* Members that its kind does not use are 0, numbers that are not known NaN. */
struct cause {
    enum cause_kind kind;
    enum cause_certainty certainty;
    double share; /* of the change, from 0 to 1; NaN if it cannot be computed */
    double share_low, share_high;
    bool bounded; /* only share_high is known, for a sensitivity of at most 1 */
    /* toolchain, environment, method */
    struct cause_changes changes;
    /* code */
    enum cause_by by;
    struct cause_kernel kernels[CAUSE_KERNELS_MAX]; /* those that differ most */
    size_t n_kernels;                               /* that differ; 0: constants, or not recorded */
    size_t n_cells;                                 /* of all cells together: whose code differs */
    /* clock: MHz; node: controls and their change; neighbours: processes, or tests of the cell's own run */
    double before, now;
    bool own_run; /* neighbours: which of the two */
    bool memory_clock;
    bool alone;         /* the clock of the other cells did not change so much: it may follow from the code */
    double sensitivity; /* of log time to log clock, negated: 1 if time is inverse to the clock */
    double sensitivity_error;
    size_t nights; /* that the sensitivity was measured on */
    double throttled_s;
    char throttle[RUN_NAME_MAX];
    size_t controls; /* cells whose code did not change */
};

/* The causes of one changed cell, the strongest first; of the common factor if variant is "". */
struct cell_causes {
    char variant[RUN_NAME_MAX];
    int context;
    char before[RUN_ID_MAX]; /* the run that stands for "before" */
    enum cause_code code;
    bool code_of_device; /* what `code` was read from */
    struct cause *items; /* at least one */
    size_t count, cap;
};

struct causes {
    struct cell_causes *cells;
    size_t count, cap;
};

const char *cause_kind_name(enum cause_kind k);
const char *cause_certainty_name(enum cause_certainty c);
const char *cause_by_name(enum cause_by b);
const char *cause_code_name(enum cause_code c);

void causes_release(struct causes *c);
/* NULL if the cell did not change. */
const struct cell_causes *causes_of(const struct causes *c, const char *variant, int context);
/* NULL if there is none of this kind. */
const struct cause *causes_kind(const struct cell_causes *c, enum cause_kind kind);

/* Appends one without shares and numbers. NULL without memory. */
struct cause *causes_add(struct cell_causes *c, enum cause_kind kind, enum cause_certainty certainty);
/* Counts a difference, and keeps the first ones: of long values the parts that differ. */
void cause_add_change(struct cause_changes *c, const char *key, const char *before, const char *now);
/* The strongest first: established ones, then the larger share, then by kind. */
void causes_sort(struct cell_causes *c);
