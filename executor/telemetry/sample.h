/* sample: everything that was measured at one moment of a test. What is not available is NaN, and its key is
 * absent in artifacts, never 0. "All GPUs" are those that the run may use, where nothing else is said.
 */
#pragma once

#include "common/base/buf.h"

#include <stdbool.h>

enum sample_field {
    SAMPLE_RSS,           /* bytes, of the process tree */
    SAMPLE_CPU,           /* percent of one core, of the process tree, over at least 100 ms */
    SAMPLE_VRAM_USED,     /* bytes, all GPUs together */
    SAMPLE_VRAM_PROC,     /* bytes, of the process tree, as reported by kfd */
    SAMPLE_GPU_BUSY,      /* percent, the busiest GPU */
    SAMPLE_MEM_BUSY,      /* percent of the memory bandwidth, the busiest GPU */
    SAMPLE_POWER,         /* watts, all GPUs together */
    SAMPLE_TEMP_JUNCTION, /* degrees C, the hottest GPU */
    SAMPLE_TEMP_MEM,      /* degrees C, the hottest GPU */
    SAMPLE_SCLK,          /* MHz, the fastest GPU; the mean of its dies where each has a clock */
    SAMPLE_SCLK_LOW,      /* MHz, the slowest die of that GPU */
    SAMPLE_MCLK,          /* MHz, the fastest GPU */
    SAMPLE_THROTTLE,      /* reasons to throttle (throttle.h), of any GPU; 0: none */
    SAMPLE_ENERGY,        /* joules so far by the accumulators, all GPUs together */
    SAMPLE_NEIGHBOURS,    /* processes of others on the GPUs */
    SAMPLE_FIELDS
};

struct sample {
    double t_s; /* since the test's start */
    double value[SAMPLE_FIELDS];
    unsigned lost;    /* bits of the fields of which a source gave what cannot be, or nothing */
    bool runnable;    /* some process of the tree is running or waits only for a core */
    bool noted;       /* it has only the power, of a trace */
    double resumed_s; /* for how long a signal had stopped a process of the tree that goes on now; 0: none */
};

enum { POWER_TRACE_MAX = 128 };

/* The power of all GPUs together over the last seconds, as the driver noted it by itself. */
struct power_trace {
    size_t count;
    struct {
        double at_s; /* of CLOCK_MONOTONIC, rising */
        double watts;
    } reading[POWER_TRACE_MAX];
};

/* Returns the key in vram_samples.jsonl. */
const char *sample_key(enum sample_field field);
bool sample_is_whole_number(enum sample_field field);
void sample_clear(struct sample *s, double t_s);
bool sample_has(const struct sample *s, enum sample_field field);
/* Whether a quantity of one GPU or process can have that value: a driver that does not know a number may give
 * 0 W, or what nothing can have. */
bool sample_is_plausible(enum sample_field field, double value);
/* Adds what another GPU or process gave: to the sum, or as the greatest, or its bits. NaN adds nothing,
 * as what is not plausible, which is noted in `lost`. */
void sample_put(struct sample *s, enum sample_field field, double value);
/* To be called once all GPUs of a source were put. without: bits of the fields of which one of them gave
 * nothing; a sum of the others is lost. */
void sample_end_sums(struct sample *s, unsigned without);
/* Appends a line of vram_samples.jsonl with its newline: t to a tenth of a millisecond, whole numbers, and
 * others to a hundredth. Values that are not available are left out, and so are those beyond 1e15.
 *
 * With several tests in flight there are many hundreds of lines a second. The JSON library's objects and
 * printf() would make them the greater part of the executor's work; but the keys are constants and the values
 * numbers, so nothing here needs quoting or allocation. */
void sample_row_add(struct buf *out, const struct sample *s);
