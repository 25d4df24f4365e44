/* metric: what is measured of a test or a build, with its unit and which direction is better.
 *
 * The built-in metrics are the rows of metric.def. Runs may define more (a plan's "metrics"): whoever loads
 * such a run adds them to the catalogue, where they keep their place until the process ends. Readers, the
 * store, histories, comparisons, exports and reports loop over all places; one that is free has no values. A
 * value that was not measured is NaN, never 0. Knows nothing of runs or storage. Not for several threads.
 */
#pragma once

#include "common/base/err.h"
#include "common/contract/proto.h"

#include <stdbool.h>

enum {
    METRIC_DEFINED_MAX = LIMIT_METRICS, /* defined by the runs of one process */
    METRIC_PRINTED_MAX = 16,            /* numbers that workloads print and no run defines */
};

enum metric {
#define METRIC_TEST(id, ...) METRIC_##id,
#define METRIC_BUILD(id, ...) METRIC_##id,
#define METRIC_RATE(id, ...) METRIC_##id,
#define METRIC_PER_TOKEN(id, ...) METRIC_##id,
#include "results/store/metric.def"
    METRIC_BUILT_IN,
    METRIC_COUNT = METRIC_BUILT_IN + METRIC_DEFINED_MAX + METRIC_PRINTED_MAX
};

enum metric_kind {
    METRIC_OF_TEST,
    METRIC_OF_BUILD, /* the same for all tests of a variant */
    METRIC_OF_TIME,  /* the context divided by `base`: derived, never stored */
    METRIC_OF_TOKEN, /* `base` divided by the context: derived, never stored */
    METRIC_OF_EXTRA, /* of a test, not built in: in table `extra`, under its name */
    METRIC_FREE,     /* a place of the catalogue that no metric has taken */
};

enum metric_better {
    METRIC_LESS,
    METRIC_MORE,
    METRIC_UNDEFINED, /* a number that no run defines: shown and exported, never judged */
};

struct metric_info {
    const char *name;  /* "prefill_s": in --json, --metric, mappings and perf.json's timings */
    const char *title; /* "Prefill (s)": in tables */
    const char *unit;  /* "s", "tok/s", "bytes", "ms", "TFLOP/s", "" */
    enum metric_better better;
    enum metric_kind kind;
    enum metric base;   /* METRIC_OF_TIME: the time; METRIC_OF_TOKEN: the whole */
    int primary;        /* rank among those that may be the primary metric by default, from 1; 0: never */
    double least;       /* an absolute difference up to this never matters: tokenizing takes microseconds */
    const char *column; /* in table `test` or `variant`; NULL: not stored */
    const char *param;  /* in statements that write it: ":prefill_s" */
    const char *timing; /* its key among the timings that a workload prints; NULL: not among them */
    const char
        *artifact;     /* otherwise its place in perf.json ("vram.peak_bytes") or its key in resources.json */
    double most;       /* the largest plausible value there */
    const char *event; /* its key in an event of a B3.89 log; NULL: not in events */
    bool exact;        /* without noise: any difference is real */
    bool whole;        /* its column holds integers */
    bool positive;     /* values of 0 and less are invalid */
    bool sampled;      /* of a part of the test (struct run_activity): its window matters */
    bool metered;      /* by the card's accumulator or its power: that matters too */
};

/* How a run defines one of its own. */
struct metric_definition {
    char name[LIMIT_NAME + 1];
    char unit[LIMIT_UNIT + 1];
    enum metric_better better; /* METRIC_LESS or METRIC_MORE */
    double least;
    bool primary;
};

const struct metric_info *metric_info(enum metric m);
bool metric_from_name(const char *name, enum metric *out);
/* The same, for --metric, once the runs are loaded: the error lists the names. */
int metric_parse(const char *name, enum metric *out, struct err *err);
/* The help of --metric, which ends with the names of the built-in metrics. */
extern const char metric_help[];

/* Finds or adds a metric that a run defines. owner: the run, for messages. ERR_INPUT if a run that was loaded
 * before defines the name with another unit or direction, or if there are too many. */
int metric_define(const struct metric_definition *d, const char *owner, enum metric *out, struct err *err);
/* Finds or adds a number that a workload printed. False for a built-in metric, or if there are too many. */
bool metric_mention(const char *name, enum metric *out);
/* Empties the catalogue of all that is not built in: for tests. */
void metric_forget(void);

/* Whether a metric follows from another one and the context; its value, given that of the other one. */
bool metric_is_derived(enum metric m);
double metric_derived(enum metric m, double base, int context);
/* Whether less of it is "faster". */
bool metric_is_time(enum metric m);
/* Whether better means "faster": a time, or something per second. */
bool metric_is_speed(enum metric m);
/* Whether it is a primary metric that the workload prints, unlike the wall time, which every process has. */
bool metric_is_judged(enum metric m);
/* Whether the value can be the time of a process that ran for wall_s; true if it is not a time or wall_s is
 * unknown. */
bool metric_is_possible(enum metric m, double value, double wall_s);

/* Fills in the derived metrics. tokens: whether the test read or wrote tokens (run_test_has_tokens()). */
void metric_derive(double *value, int context, bool tokens);

struct metric_set {
    bool has[METRIC_COUNT];
};

/* Stands for "the primary one" where metric_primary() chooses the metric later. */
enum metric metric_default(void);
/* The primary metric, by which runs are judged: `wanted` if it was measured, else the measured one with the
 * first rank; if none was measured, `wanted`, or the built-in one with the first rank. */
enum metric metric_primary(enum metric wanted, const struct metric_set *measured);
