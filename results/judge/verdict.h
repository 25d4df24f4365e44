/* verdict: the verdict on one metric of one cell, its evidence, and the options that decide.
 *
 * Plain data, and the names that --json, exports and the store use. Ratios are now / reference; `factor` is
 * the improvement: above 1 if now is better.
 */
#pragma once

#include "results/store/acceptance.h"
#include "results/store/run_data.h"

enum verdict {
    VERDICT_IMPROVED,
    VERDICT_REGRESSED, /* a finding: it stands */
    VERDICT_SUSPECTED, /* worse tonight, and too few nights tell whether it stays */
    VERDICT_ACCEPTED,  /* a finding that somebody accepted */
    VERDICT_UNCHANGED,
    VERDICT_NOISY,   /* inconclusive: the evidence supports no verdict */
    VERDICT_NEW,     /* not measured in the base */
    VERDICT_MISSING, /* not measured now */
    VERDICT_BROKEN,  /* OK in the base, not OK now */
    VERDICT_FAILING, /* neither OK in the base nor now: still failing */
    VERDICT_FIXED,   /* OK now, not OK in the base */
    VERDICT_COUNT
};

enum compare_method {
    METHOD_NONE,         /* one side is absent or not OK */
    METHOD_EXACT,        /* a property of the build */
    METHOD_THRESHOLD,    /* too few values for a test */
    METHOD_MANN_WHITNEY, /* at least 4 values per side */
    METHOD_BOOTSTRAP,    /* at least 5 values per side */
    METHOD_NIGHTS,       /* with the levels and the spread of earlier nights */
    METHOD_COUNT
};

/* What the scale of METHOD_NIGHTS came from: the largest of these. */
enum scale_floor {
    FLOOR_NIGHTS,  /* how far nights lie from their level, this cell's and the median cell's */
    FLOOR_WITHIN,  /* the repetitions of a night */
    FLOOR_QUANTUM, /* the resolution of the values */
    FLOOR_COUNT
};

/* What `now` was compared with. */
enum reference_kind {
    REFERENCE_NONE,
    REFERENCE_RUN,   /* the base's own repetitions */
    REFERENCE_LEVEL, /* the newest nights at the current level */
    REFERENCE_BASE,  /* the nights around a stored base, or those of a base of several runs */
    REFERENCE_COUNT
};

/* The result of measuring a suspect again, alternating with the base's build (confirm.h). */
enum confirmation {
    CONFIRM_NOT_ASKED,
    CONFIRM_STANDS,    /* slower than the base's build in the same session */
    CONFIRM_REFUTED,   /* as fast as the base's build, which is as fast as before */
    CONFIRM_NODE,      /* as fast as the base's build, which is itself much slower than before: the node, not
                          the sources */
    CONFIRM_UNDECIDED, /* not measured again, or not conclusively: see enum undecided */
    CONFIRM_COUNT
};

const char *confirmation_name(enum confirmation c);
bool confirmation_from_name(const char *name, enum confirmation *out);
const char *verdict_name(enum verdict v);
/* Regressed or suspected. */
bool verdict_is_slower(enum verdict v);
const char *scale_floor_name(enum scale_floor f);
const char *reference_kind_name(enum reference_kind k);
const char *compare_method_name(enum compare_method m);

/* Why measuring a suspect again did not settle it. */
enum undecided {
    UNDECIDED_NOISY,        /* the alternating repetitions do not tell */
    UNDECIDED_NOT_MEASURED, /* a side has no value */
    UNDECIDED_OLDER_BASE,   /* the base's build is from before the level of the newest nights (confirm.h) */
    UNDECIDED_OTHER_BUILD,  /* as slow, and the base's build could not be made again: the code or the node */
    UNDECIDED_COUNT
};

const char *undecided_name(enum undecided u);
bool undecided_from_name(const char *name, enum undecided *out);

/* Why a cell has its verdict. The sentence, with the numbers of the delta, is reports/words/reason.h's. */
enum reason_code {
    REASON_NONE, /* not judged yet */

    /* Where there are no two sides of values. */
    REASON_NEW,           /* not in the base */
    REASON_MISSING,       /* not measured now */
    REASON_STATUS,        /* of both sides */
    REASON_METRIC_LOST,   /* now has no value of the metric, the base has */
    REASON_METRIC_GAINED, /* the other way round */
    REASON_FEW_NIGHTS,
    REASON_NO_VALUE,
    REASON_OTHER_WORK,   /* of another shape: work.h */
    REASON_OTHER_WINDOW, /* sampled over different parts of the tests */
    REASON_OTHER_METER,  /* energy by the accumulator, and computed from the power */
    REASON_APART,        /* measured alternately, on no GPU in common */
    REASON_NOT_BUILT,    /* measured alternately: a side was not built; `said` may say why */
    REASON_SAME_CODE,    /* nothing to measure alternately */
    REASON_SAME_DEVICE_CODE,
    REASON_TESTS_FAIL, /* measured alternately; whose tests do is in `failed` */

    /* Of values. */
    REASON_NO_RATIO, /* a value is not positive */
    REASON_OTHER_GPU,
    REASON_SAME_VALUE,
    REASON_NEGLIGIBLE, /* a difference of up to least_difference() */
    REASON_EXACT,
    REASON_CHANGED,         /* beyond the threshold and the noise */
    REASON_SUSPECT,         /* beyond the threshold and the noise, but not settled yet */
    REASON_UNEVEN,          /* the same, on a night on which many cells of several variants are */
    REASON_STANDS,          /* a finding of earlier nights, which tonight does not end */
    REASON_BACK,            /* a finding of earlier nights is open, but tonight is back by more than half */
    REASON_SHARED,          /* with other cells, of which measuring again has found the code guilty */
    REASON_BELOW,           /* no such change, and as large a one would be found */
    REASON_INSUFFICIENT,    /* no such change, and as large a one might not be found */
    REASON_NOT_SIGNIFICANT, /* beyond the threshold only, as the next ones */
    REASON_INTERVAL,        /* the interval of the ratio contains 1 */
    REASON_FACTOR_ERROR,    /* the factor that all cells share is not known better */
    REASON_NOISE,           /* within the noise of the same build */
    REASON_SPREAD,          /* runs of the same build differ by as much */
    REASON_DISAGREE,        /* some repetitions show the change and some do not */
    REASON_STAYED,          /* as measured, it has not changed: only the factor that cells share says so */
    REASON_ONE_ROUND,       /* measured alternately: only the last round found it */
};

/* What a verdict of alternating values lacks for a search, which asks for more than others. */
enum lack {
    LACK_NOTHING,
    LACK_NEAR_HALF, /* too close to half of the ends' change */
    LACK_AGREEMENT, /* repetitions of both sides are on both sides of the middle */
    LACK_VALUES,
    LACK_CELLS, /* not enough as the clearest of so many cells */
};

/* What a cell is compared with. */
enum compared_with {
    COMPARED_RUNS,
    COMPARED_NIGHTS,   /* there is no base: earlier nights judge */
    COMPARED_VARIANTS, /* the base is another variant of the same run */
    COMPARED_TURNS,    /* measured alternately */
};

enum { DELTA_GPU_MAX = 128, DELTA_SAID_MAX = 161 };

/* What one side measured. */
struct delta_side {
    bool present;       /* the run has the cell */
    enum status status; /* OK where it is not present */
    double median;      /* NaN when there is none */
    int n;              /* values behind it */
    int failed, of;     /* repetitions that were not OK, of how many; 0 and 0 where all were */
    int beside;         /* most tests of their own run beside a counted one; RUN_UNKNOWN */
    int compiled; /* of the counted tests, those that filled their build's caches of kernels; RUN_UNKNOWN */
    int values; /* COMPARED_NIGHTS: of the nights before of which `compiled` is known; 0 until they are looked
                 * for (openings_load.h) */
    const char *gpu;  /* if it is one; "" when unknown; a word(), as the next ones */
    const char *code; /* code identity of the base's build; "" when unknown */
    const char *said; /* of the first failure; printable */
};

/* By how much the sides differ. */
struct delta_estimate {
    enum compare_method method;
    double ratio; /* now / reference; NaN when there is none, or it is 0 */
    double factor;
    double threshold;       /* relative change that matters, as a fraction */
    double noise_floor;     /* relative standard error of the ratio; NaN when unknown */
    enum scale_floor floor; /* of noise_floor; METHOD_NIGHTS only, as z */
    double freedom;         /* of noise_floor; NaN if it is what `noise` measured */
    double z;               /* logarithm of the ratio, in units of noise_floor: t with `freedom` degrees */
    double between_runs;    /* relative spread between runs of one build, from an A/A sweep; NaN when not
                               measured */
    double least;           /* a difference of up to this is not judged; in the metric's unit */
    double detectable;      /* minimum detectable change, relative; NaN when unknown */
    double p;               /* NaN when the method gives none */
    double p_adjusted;      /* after Benjamini-Hochberg */
    double low, high;       /* interval of the ratio; NaN when the method gives none */
    double reach; /* of variants of one run: of the interval of the factor's logarithm, to either side;
                     NaN when unknown */
    double mixed; /* measured alternately: pair_mixed() */
    size_t gpus;  /* that the cell was compared on; 0 when unknown */
    size_t gpus_worse, gpus_better; /* of several: those that changed beyond the threshold, each by itself */
};

/* What now is compared with: what was expected tonight. */
struct delta_reference {
    enum reference_kind kind;
    double value;
    int nights;            /* behind it; 0 for a run */
    int history_n;         /* nights that measured the cell */
    double history_median; /* of the nights at the current level; NaN when there is none */
    double common;         /* the common factor of the night that the value contains; 1 when none */
    double common_error;   /* the standard error of its logarithm, between two runs alone */
    double own;            /* its GPU's own factor that the value contains; 1 when none. Of several GPUs the
                              median */
    bool control;          /* its code is known, and is that of the reference */
};

/* Whether being worse is a matter of tonight alone. METHOD_NIGHTS only. */
struct stand {
    bool stands;
    bool back; /* it stands, and tonight is one of the nights that close it */
    int64_t
        since; /* when the finding's first night was measured, or VERDICT_FAILING failed before; 0: tonight */
    int64_t gone;  /* when a suspect was measured that tonight does not repeat; 0: none was */
    size_t nights; /* more like tonight that would make a finding; 0: unknown, or it is one */
    bool uneven;   /* tonight, too many cells are worse for a verdict on each */
};

/* What speaks against believing the estimate, or against measuring again. */
struct delta_doubts {
    bool factor_is_open; /* nobody knows whether reference.common is the node's, or that of code that other
                            cells share */
    bool own_is_open;    /* the same of reference.own, and of code that other cells of its GPU share */
    bool other_device;   /* the reference was measured on other GPUs: it says nothing of this one */
    bool no_builds;      /* there is no single build of the base, or a side has no sources: none to measure
                            alternately */
    bool other_plan;     /* the base's plan ran it otherwise: its build, measured alternately, cannot tell */
    bool otherwise;      /* compare_options.otherwise of its variant: it is no control */
    bool other_build; /* what was measured alternately for the base is not known to be its build, and cannot
                         clear the cell */
    bool disagree;    /* some repetitions show the change and some do not */
    bool outlier;     /* at least one repetition of now is an outlier */
    bool slow_first;
    bool apart; /* variants of one run, on different GPUs */
    bool first; /* nobody knows whether the one value of now, of other sources than the base's, has a first
                   compile in it */
    bool unadjusted; /* p is not adjusted for all cells: there are too few values */
    enum lack lack;
    size_t cells; /* LACK_CELLS */
    enum undecided undecided;
};

struct delta {
    char variant[RUN_NAME_MAX];
    char attn_impl[RUN_NAME_MAX]; /* of the base if now has none */
    int context;
    enum metric metric;
    size_t order; /* place of the cell in the output */
    enum compared_with compared;
    enum verdict verdict;
    enum reason_code reason;
    enum confirmation confirmation;
    double again; /* the ratio when both builds were measured again, alternately; 0 if they were not */
    struct delta_side base, now;
    struct delta_estimate estimate;
    struct delta_reference reference;
    struct stand stand;
    const struct acceptance *accepted; /* to be told of it tonight; the comparison's. NULL: none */
    struct delta_doubts doubts;
};

/* Without any number yet. */
struct delta delta_of(const char *variant, int context, enum metric m);

/* The ratio to what was measured before: without the factors of which nobody knows whose they are. */
double delta_measured(const struct delta *d);

/* A difference of up to this, in the metric's unit, is not judged: what a plan says of its own metric, and
 * else what the metric has, for as long as nobody knows how far its values vary. */
double least_difference(enum metric m, bool spread_known);

/* One side is 0 and the other is more, beyond every threshold, and ranks decide since there is no ratio. */
bool delta_by_ranks(const struct delta *d);

/* Whether measuring both builds again, alternately, has confirmed the finding, and said its size: that of the
 * cell, or where only cells that share its code were measured, that of the code. */
bool delta_is_remeasured(const struct delta *d);
/* The ratio to say of a cell: that size, else tonight's. */
double delta_size(const struct delta *d);

/* What measuring some cells again, in alternation with the base's build, said of a factor that cells share.
 */
enum shift_cause {
    SHIFT_UNSETTLED, /* not asked, or not settled */
    SHIFT_NODE,      /* the base's build is as slow: it is the node */
    SHIFT_CODE,      /* the base's build is faster: it is code that the cells share */
};

const char *shift_cause_name(enum shift_cause c);

/* What all cells have in common tonight: the factor by which they differ from their levels together. */
struct common_shift {
    bool known;          /* at least six cells agree on it; the rest is 0 or NaN if not */
    bool found;          /* beyond the variation of the nights, and large enough to matter: a finding */
    bool unusual;        /* beyond the variation of the nights, whether it is large enough or not */
    bool worse;          /* the cells are slower (or get less) */
    bool from_controls;  /* read from cells whose code did not change: it is the node's. Else it may be shared
                            code as well */
    bool device_changed; /* the GPUs are others than on the nights before, or than the base's */
    enum shift_cause confirmed;
    const struct acceptance *accepted; /* as delta.accepted */
    bool since_base;                   /* relative to the base's nights, not to those before */
    double ratio;                      /* now / before */
    double again; /* the same of the cells that were measured again, if these found the code guilty; else 0 */
    double p;     /* NaN where only two runs were compared */
    size_t cells; /* that it was read from */
    size_t agree; /* those of them that moved by as much: more than half */
    size_t controls;
};

/* The same as delta_size(). */
double shift_size(const struct common_shift *s);

/* What all cells of one GPU have in common, and those of no other one: the GPU became slower by itself. */
struct card_shift {
    char gpu[DELTA_GPU_MAX]; /* as its tests have it */
    bool worse;
    bool from_controls; /* read from cells whose code did not change: it is the GPU's. Else it may be code
                           that only its cells run */
    bool from_others;   /* its cells ran on other GPUs, too, and were no slower there: it is the GPU's */
    bool since_base;    /* relative to the base, not to the nights before */
    double ratio;       /* now / before, without what all cells have in common */
    double p;           /* NaN where only two runs were compared */
    size_t cells;       /* that agree */
    size_t all;         /* of the GPU */
};

enum { CARD_SHIFTS_MAX = 32 };

struct card_shifts {
    struct card_shift items[CARD_SHIFTS_MAX];
    size_t count;
};

struct noise;

/* A cell that fails, and failed on the nights before, too. */
struct failing_cell {
    char variant[RUN_NAME_MAX];
    int context;
    int64_t since;      /* the first of these nights; milliseconds since the epoch */
    enum status status; /* on the newest of them */
};

struct compare_options {
    double regression;  /* the plan's threshold, a fraction; default 0.05 */
    double improvement; /* default 0.05 */
    double node_shift;  /* confirming: a slowdown of the base's own build beyond this is attributed to the
                           node; default 0.10 */
    double practical;   /* smallest change that matters, with a history or in one session; default 0.02 */
    double z_limit;     /* of a night's common factor, and of a drift against a stored base; default 3.5 */
    double fdr; /* false discoveries among the cells that are called changed; default 0.035: about 2 % of
                   still nights raise an alarm */
    size_t history_min; /* with fewer nights the history is not used; default 8 */
    enum metric metric; /* default metric_default() */
    bool keep_metric;   /* judge by `metric` also if the run has none of it: its cells are missing then */
    bool all_metrics;   /* compare the other metrics too */
    /* The store's rows of the runs of the base, in any order. Several: their nights are the reference. One:
     * the nights of its segment around it. NULL: the run that is given as base. */
    const int64_t *base_runs;
    size_t n_base_runs;
    /* By now's variants: whether the plan itself builds or runs it otherwise than before, so that its cells
     * are no controls. NULL: none. */
    const bool *otherwise;
    /* Both sides were measured in one session, without variation between nights: `practical` suffices. */
    bool same_session;
    double
        middle; /* measured alternately: the ratio between the two sides; 0: half-way to the measured one */
    bool ratio_alone; /* whatever least_difference() is */
    /* Both sides are variants of one run: reasons speak of the reference, not of a base and of now. */
    bool within_run;
    const struct acceptances *accepted; /* findings; NULL: none */
    const struct failing_cell *failing; /* on the nights before, too */
    size_t n_failing;
    /* Spreads from an A/A sweep (noise.h), for cells with few repetitions; may be NULL. */
    const struct noise *noise;
    uint64_t seed; /* of the bootstrap; fixed, so that the same data yield the same verdict */
};

struct compare_options compare_defaults(void);
