/* compare: two runs, cell by cell, with a verdict and the evidence it stands on.
 *
 * Pure: takes loaded runs and, when there is one, the history; reads no store and prints nothing. Cells that
 * only one side has, and cells that stopped or started to work, are findings and never dropped. Which method
 * judges a cell follows from the evidence: history of enough nights -> robust z and a practical threshold;
 * five a side -> bootstrap interval; four -> exact Mann-Whitney; fewer -> the plan's threshold alone. False
 * discoveries are controlled over all cells that were tested with a p-value. Ratios are now / base; `factor`
 * is how many times better (above 1) or worse now is.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_COMPARE_H
#define KERNSWEEP_RESULTS_JUDGE_COMPARE_H

#include "results/judge/history.h"
#include "results/store/run_data.h"

enum verdict {
    VERDICT_IMPROVED,
    VERDICT_REGRESSED,
    VERDICT_UNCHANGED,
    VERDICT_NOISY,   /* the evidence does not carry a verdict either way */
    VERDICT_NEW,     /* not in the base */
    VERDICT_MISSING, /* in the base, not now */
    VERDICT_BROKEN,  /* OK in the base, not now */
    VERDICT_FIXED,   /* OK now, not in the base */
    VERDICT_COUNT
};

enum compare_method {
    METHOD_NONE,         /* nothing to measure: a side is absent or not OK */
    METHOD_EXACT,        /* a property of the build: compared as it is */
    METHOD_THRESHOLD,    /* too few values for a test */
    METHOD_MANN_WHITNEY, /* at least 4 a side */
    METHOD_BOOTSTRAP,    /* at least 5 a side */
    METHOD_ROBUST_Z,     /* against the history of nights */
    METHOD_COUNT
};

/* What measuring a suspect again, in turns with the base's build, said of it (confirm.h). */
enum confirmation {
    CONFIRM_NOT_ASKED,
    CONFIRM_STANDS,    /* slower than the base's build in the same session */
    CONFIRM_REFUTED,   /* as fast as the base's build, which is as fast as it was */
    CONFIRM_NODE,      /* as fast as the base's build, but that is far slower than it was: the node, not the
                          sources */
    CONFIRM_UNDECIDED, /* could not be measured again */
    CONFIRM_COUNT
};

const char *confirmation_name(enum confirmation c);
bool confirmation_from_name(const char *name, enum confirmation *out);
const char *verdict_name(enum verdict v);
const char *compare_method_name(enum compare_method m);

struct noise;

enum { COMPARE_REASON_MAX = 320 };

struct delta {
    char variant[RUN_NAME_MAX];
    char attn_impl[RUN_NAME_MAX]; /* now's, or the base's when now has none */
    int context;
    enum metric metric;
    enum verdict verdict;
    bool in_base;
    bool in_now;
    enum status base_status; /* OK when absent: look at in_base */
    enum status now_status;
    double base_median; /* NaN when there is none */
    double reference;   /* what now is measured against: base_median, or the history's */
    double now_median;
    int base_n;
    int now_n;
    double ratio;  /* now / reference; NaN when there is none, or it is 0 */
    double factor; /* how many times better now is */
    enum compare_method method;
    double threshold;    /* relative change that matters, as a fraction */
    double noise_floor;  /* relative spread of what is called equal; NaN when unknown */
    double between_runs; /* relative spread between runs of one build, from an A/A sweep; NaN when not
                            measured */
    double detectable;   /* smallest relative change this evidence would have found; NaN when unknown */
    int history_n;
    double history_median; /* NaN when there is none */
    double z;              /* robust z; NaN unless METHOD_ROBUST_Z */
    double p;              /* NaN when the method gives none */
    double p_adjusted;     /* after Benjamini-Hochberg */
    double ratio_low;      /* interval of the ratio; NaN when the method gives none */
    double ratio_high;
    bool outlier; /* a value of now lies far from its fellows: look at the samples */
    bool slow_first;
    enum confirmation confirmation;
    char reason[COMPARE_REASON_MAX]; /* one line, for people */
};

/* A fact that differs between the sides; "" where a side does not know it. */
struct fact_change {
    char key[RUN_FACT_MAX];
    char base[RUN_FACT_MAX];
    char now[RUN_FACT_MAX];
};

struct fact_list {
    struct fact_change *items; /* node, mode and source first, then by key */
    size_t count;
};

struct comparison {
    char base_id[RUN_ID_MAX];
    char now_id[RUN_ID_MAX];
    /* By variant in now's order, then context, then metric; what only the base has stands last. */
    struct delta *deltas;
    size_t count;
    struct fact_change *facts;
    size_t n_facts;
    enum metric primary; /* compare_primary() */
    size_t tested;       /* cells of it that had a p-value and went through the false-discovery control */
    int verdicts[VERDICT_COUNT]; /* of it */
};

struct compare_options {
    double regression;  /* the plan's threshold, a fraction; default 0.05 */
    double improvement; /* default: as regression */
    double node_shift;  /* confirming: how much slower the base's own build must be for it to be the node;
                           default 0.10 */
    double practical;   /* with a history or in one session, the smallest change that matters; default 0.02 */
    double z_limit;     /* default 3.5 */
    double fdr;         /* default 0.05 */
    size_t history_min; /* nights below which the history is not used; default 8 */
    enum metric metric; /* default metric_default() */
    bool all_metrics;   /* all others too */
    /* The history is the base's own (a baseline of several runs): its median is the reference. */
    bool history_is_base;
    /* Both sides were measured in turns: no night lies between them, so `practical` is enough. */
    bool same_session;
    const struct noise
        *noise;    /* spreads of an A/A sweep (noise.h), for cells with few repetitions; NULL: none */
    uint64_t seed; /* of the bootstrap; fixed, so that the same data give the same verdict */
};

struct compare_options compare_defaults(void);

/* The metric that decides between two runs, from what either of them measured; base may be NULL. */
enum metric compare_primary(const struct run_data *base, const struct run_data *now, enum metric wanted);

/* base may be NULL when there is a history: each cell is then judged against its nights alone. history may be
 * NULL. */
int compare_runs(const struct run_data *base, const struct run_data *now, const struct history *history,
                 const struct compare_options *options, struct comparison *out, struct err *err);
void comparison_release(struct comparison *c);

/* What was different around two runs: the node, the mode, the sources, and every fact. */
int compare_facts(const struct run_data *a, const struct run_data *b, struct fact_list *out, struct err *err);
void fact_list_release(struct fact_list *l);

/* Inside one run: `variant` against `reference`, context by context. NaN
 * where either has no median. base is the reference: factor 0.11 reads "0.11x of the reference's speed". */
struct variant_delta {
    size_t variant; /* indexes into run->variants */
    size_t reference;
    int context;
    double ratio;
    double factor;
    double factor_error; /* one standard error by propagation; NaN with fewer than 2 values a side */
};

/* Every other variant of one run against the reference, with verdicts: they were measured in one session.
 * base_id is the reference's name. A context that only the reference has is "missing" for the others. */
int compare_within(const struct run_data *run, size_t reference, const struct compare_options *options,
                   struct comparison *out, struct err *err);

/* One row per cell of the run, in the order of run->cells; *out is to be free()d. */
int compare_variants(const struct run_data *run, size_t reference, enum metric m, struct variant_delta **out,
                     size_t *count, struct err *err);
/* The same for one pair and context. */
struct variant_delta compare_pair(const struct run_data *run, size_t variant, size_t reference, int context,
                                  enum metric m);

/* Whether the comparison holds a regression (or a broken or missing cell). */
bool comparison_regressed(const struct comparison *c);

#endif
