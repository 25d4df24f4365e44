/* insight: conclusions that more than one section draws from the model, each by a stated rule. Pure; no
 * words. */
#ifndef KERNSWEEP_REPORTS_MODEL_INSIGHT_H
#define KERNSWEEP_REPORTS_MODEL_INSIGHT_H

#include "reports/model/model.h"
#include "results/judge/within.h"

/* A variant against the reference, over the contexts where both have a median. */
struct standing_range {
    double low; /* slowest and fastest of its factors */
    double high;
    int contexts; /* or shapes; 0: nothing to compare */
    int context;  /* of the last one */
    int fast;
    int slow;
};

/* Against the reference or any other. Of a kernel plan: of all shapes of the variant's kernel. */
struct standing_range insight_standing(const struct report_model *m, size_t variant, size_t other);

/* The first variant of each name but the reference's, at most `most` of them in `first`; returns how many
 * there are. Pairs of them are only of use while they are few. */
enum { INSIGHT_PAIRS_OF_MAX = 4 };
size_t insight_others(const struct report_model *m, size_t *first, size_t most);

/* The cells of a variant that ended alike: same status, same reason. */
struct cell_group {
    const struct cell **cells; /* by context */
    size_t count;
};

/* Those that are not OK, in plan order; *groups is for insight_groups_release(). -1: memory is short. */
int insight_not_ok(const struct run_data *run, struct cell_group **groups, size_t *count);
void insight_groups_release(struct cell_group *groups, size_t count);

/* How far the counted repetitions of a cell lie apart, as a share of their median. */
struct cell_spread {
    int n; /* below 2: nothing to say */
    double low;
    double high;
    double relative;
};

/* Above this the repetitions of a cell do not agree. */
#define SPREAD_LIMIT 0.10
struct cell_spread insight_spread(const struct run_data *run, const struct cell *c, enum metric metric);

/* The variant that is the fastest at every context of the run; false when there is none, or only one. */
bool insight_fastest(const struct report_model *m, size_t *variant);

/* The step that exceeds its expectation most; NULL when none does. */
const struct scaling_row *insight_worst_step(const struct scaling *s);

/* Memory that a test took and did not give back: beyond 64 MiB and 1 % of the peak. */
bool insight_memory_kept(double before, double peak, double after);

/* Scratch bytes a lane of the variant's kernels, the largest; NaN when nothing was recorded. */
double insight_scratch(const struct report_model *m, size_t variant);

/* With fewer waves than this on a compute unit there is little to run while one waits. */
enum { WAVES_TO_HIDE = 4 };

/* Whether a test of that status points at the node or the kernel's stability, not at its result. */
bool insight_unstable(enum status s);

#endif
