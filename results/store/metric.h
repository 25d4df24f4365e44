/* metric: what is measured of a test, with its unit and which direction is better.
 *
 * One enum, one table. A value that was not measured is NaN, never 0. Knows nothing of runs or storage.
 */
#ifndef KERNSWEEP_RESULTS_STORE_METRIC_H
#define KERNSWEEP_RESULTS_STORE_METRIC_H

#include <stdbool.h>

enum metric {
    METRIC_PREFILL_S, /* the one a sweep is judged by */
    METRIC_TOK_PER_S, /* context / prefill_s: derived, never stored */
    METRIC_WALL_S,
    METRIC_MODEL_LOAD_S,
    METRIC_TOKENIZE_S,
    METRIC_DECODE_S,
    METRIC_VRAM_PEAK,
    METRIC_RSS_PEAK,
    METRIC_KERNEL_MS,
    METRIC_TFLOPS,
    METRIC_SCRATCH_BYTES, /* of the variant's build, the same for all its tests */
    METRIC_VGPRS,         /* likewise */
    METRIC_COUNT
};

struct metric_info {
    const char *name;  /* "prefill_s": in --json, --metric and CSV headers */
    const char *title; /* "Prefill (s)": in tables */
    const char *unit;  /* "s", "tok/s", "bytes", "ms", "TFLOP/s", "" */
    bool lower_is_better;
    bool exact;   /* a property of the build: any difference is real, no statistics needed */
    double least; /* a smaller absolute difference never matters: tokenizing takes microseconds */
};

const struct metric_info *metric_info(enum metric m);
bool metric_from_name(const char *name, enum metric *out);

/* Which metrics were measured at all, in one run or in several. */
struct metric_set {
    bool has[METRIC_COUNT];
};

/* The primary metric, by which runs are judged: `wanted` where it was measured, else the prefill time, a
 * kernel's time or the wall time, whichever was measured first in this order; `wanted` when none was. */
enum metric metric_primary(enum metric wanted, const struct metric_set *measured);

#endif
