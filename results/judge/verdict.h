/* verdict: what is said of one metric of one cell, the evidence for it, and the options that decide.
 *
 * Plain data with the names that --json, exports and the store use. Ratios are now / reference; `factor` is
 * how many times better (above 1) or worse now is.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_VERDICT_H
#define KERNSWEEP_RESULTS_JUDGE_VERDICT_H

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
    METHOD_NONE,         /* nothing to compare: one side is absent or not OK */
    METHOD_EXACT,        /* a property of the build: compared as it is */
    METHOD_THRESHOLD,    /* too few values for a test */
    METHOD_MANN_WHITNEY, /* at least 4 values per side */
    METHOD_BOOTSTRAP,    /* at least 5 values per side */
    METHOD_ROBUST_Z,     /* against the history of nights */
    METHOD_COUNT
};

/* The result of measuring a suspect again, alternating with the base's build (confirm.h). */
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
    bool outlier; /* one repetition of now is an outlier: look at its samples */
    bool slow_first;
    enum confirmation confirmation;
    char reason[COMPARE_REASON_MAX]; /* one line, for people */
};

struct noise;

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
    /* Both sides were measured in one session, so there is no difference between nights and `practical` is
     * enough. */
    bool same_session;
    /* Spreads of an A/A sweep (noise.h), for cells with few repetitions; NULL: none. */
    const struct noise *noise;
    uint64_t seed; /* of the bootstrap; fixed, so that the same data give the same verdict */
};

struct compare_options compare_defaults(void);

#endif
