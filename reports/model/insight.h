/* insight: conclusions that more than one section draws from the model, each by a stated rule. Pure; no
 * words. */
#pragma once

#include "reports/model/model.h"
#include "results/judge/within.h"

/* A variant compared with the reference, over the contexts at which both have a median and are OK. */
struct standing_range {
    double low; /* lowest and highest factor */
    double high;
    int contexts; /* or shapes; 0: nothing to compare */
    int context;  /* the last of them */
    int fast;
    int slow;
    int unsure;
    int repetitions; /* behind the weaker of all medians compared */
    int unlike;      /* contexts left out, because the two did different work there (work.h) */
    int not_ok; /* contexts left out, because one of the two is not OK there, although both have a median */
};

/* Compares with the reference or any other variant; in a kernel plan, over all shapes of the variant's
 * kernel. */
struct standing_range insight_standing(const struct report_model *m, size_t variant, size_t other);

/* Contexts, or shapes at a context, at which the run measured any variant. */
int insight_places(const struct report_model *m);

/* The first variant of each name other than the reference's, at most `most` of them in `first`; returns how
 * many there are. Pairwise comparisons are useful only for a few variants. */
enum { INSIGHT_PAIRS_OF_MAX = 4 };
size_t insight_others(const struct report_model *m, size_t *first, size_t most);

/* Cells of one variant with the same status and the same reason. */
struct cell_group {
    const struct cell **cells; /* by context */
    size_t count;
};

/* Groups of cells that are not OK, in plan order; *groups is for insight_groups_release(). Returns how many.
 */
size_t insight_not_ok(const struct run_data *run, struct cell_group **groups);
void insight_groups_release(struct cell_group *groups, size_t count);

/* The gate that the variant failed before its tests; NULL: none. */
const struct run_gate *insight_failed_gate(const struct report_model *m, size_t variant);
enum waiting { WAITING_UNKNOWN, WAITING_IDLE, WAITING_BUSY };
/* Whether a test of the cell ran into its time-out with next to no CPU time, *cpu_s where it did; unknown
 * where none that ran into it has a CPU time. */
enum waiting insight_waiting(const struct run_data *run, const struct cell *c, double *cpu_s);

/* Spread of the counted repetitions of a cell. */
struct cell_spread {
    int n; /* repetitions; below 2 there is no spread */
    double low;
    double high;
    double relative;  /* (high - low) / median */
    double deviation; /* standard deviation; NaN below two */
};

/* A relative spread above this is reported. */
#define SPREAD_LIMIT 0.10
struct cell_spread insight_spread(const struct run_data *run, const struct cell *c, enum metric metric);

/* The variant that is faster than every other, by more than the noise, at every context that the run
 * measured; false without one, or with a single variant. */
bool insight_fastest(const struct report_model *m, size_t *variant);
/* How many variants are OK at the context and have a value. */
int insight_ok_at(const struct report_model *m, int context);

/* The flagged step that exceeds its expectation most, among steps that are long enough for n^2 to matter and
 * that the spread of the repetitions does not explain; NULL if there is none. */
const struct scaling_row *insight_worst_step(const struct scaling *s);

/* Whether a test failed to release memory: more than 64 MiB and 1 % of its peak. */
bool insight_memory_kept(double before, double peak, double after);

/* What a kernel's scratch holds. Compilers count the registers that they spill; arrays that are indexed at
 * run time need scratch however many registers are free. */
enum scratch_use {
    SCRATCH_OF_ARRAYS, /* no register was spilled */
    SCRATCH_OF_SPILLS, /* the spilled registers fill it */
    SCRATCH_OF_BOTH,   /* they fill only a part */
    SCRATCH_UNKNOWN    /* their count was not recorded, or only scalar ones were spilled, which may be kept in
                        * lanes of vector registers instead */
};
enum scratch_use insight_scratch_use(const struct kernel_resources *k);

/* Scratch bytes per lane of the kernels of the variant that ran, and what all of them together use it for;
 * kernels is 0 if that is unknown. */
struct scratch {
    double low;
    double high;
    int kernels;
    enum scratch_use use;
};
struct scratch insight_scratch(const struct report_model *m, size_t variant);

/* With fewer waves than this, a compute unit has little to run while one waits. */
enum { WAVES_TO_HIDE = 4 };

/* Whether the status hints at an unstable node or kernel rather than at a wrong result. */
bool insight_unstable(enum status s);
