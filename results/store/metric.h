/* metric: what is measured of a test or a build, with its unit and which direction is better.
 *
 * The metrics are the rows of metric.def; readers, the store, histories, comparisons, exports and reports
 * loop over them. A value that was not measured is NaN, never 0. Knows nothing of runs or storage.
 */
#ifndef KERNSWEEP_RESULTS_STORE_METRIC_H
#define KERNSWEEP_RESULTS_STORE_METRIC_H

#include "common/base/err.h"

#include <stdbool.h>

enum metric {
#define METRIC_TEST(id, ...) METRIC_##id,
#define METRIC_BUILD(id, ...) METRIC_##id,
#define METRIC_RATE(id, ...) METRIC_##id,
#include "results/store/metric.def"
    METRIC_COUNT
};

enum metric_kind {
    METRIC_OF_TEST,
    METRIC_OF_BUILD, /* the same for all tests of a variant */
    METRIC_OF_TIME,  /* the context divided by `base`: derived, never stored */
};

enum metric_better { METRIC_LESS, METRIC_MORE };

struct metric_info {
    const char *name;  /* "prefill_s": in --json, --metric, mappings and perf.json's timings */
    const char *title; /* "Prefill (s)": in tables */
    const char *unit;  /* "s", "tok/s", "bytes", "ms", "TFLOP/s", "" */
    enum metric_better better;
    enum metric_kind kind;
    enum metric base;   /* METRIC_OF_TIME: the time */
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
};

const struct metric_info *metric_info(enum metric m);
bool metric_from_name(const char *name, enum metric *out);
/* The same, for --metric: the error lists the names. */
int metric_parse(const char *name, enum metric *out, struct err *err);
/* "prefill_s tok_per_s ...": all names; and the help of --metric, which ends with them. */
const char *metric_names(void);
const char *metric_help(void);
/* Whether less of it is "faster". */
bool metric_is_time(enum metric m);
/* Whether it is a primary metric that the workload prints, unlike the wall time, which every process has. */
bool metric_is_judged(enum metric m);

/* Fills in the derived metrics. */
void metric_derive(double *value, int context);

struct metric_set {
    bool has[METRIC_COUNT];
};

/* The primary metric with the first rank. */
enum metric metric_default(void);
/* The primary metric, by which runs are judged: `wanted` if it was measured, else the measured one with the
 * first rank; `wanted` if none was. */
enum metric metric_primary(enum metric wanted, const struct metric_set *measured);

#endif
