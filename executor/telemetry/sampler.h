/* sampler: the samples of one test: rows of vram_samples.jsonl, peaks, and how reliable they are (ticks
 * missed, the longest gap, the CPU time that sampling itself took). Long tests are written with fewer rows;
 * peaks see every sample. Knows nothing of timers: the caller decides when. Units: seconds, bytes, percent.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "executor/telemetry/gpu_activity.h"
#include "executor/telemetry/telemetry.h"

#include <stdint.h>

enum { SAMPLER_HISTORY = 16 };

struct sampler {
    struct telemetry *telemetry; /* borrowed */
    struct sample before;        /* the level before the test started */
    struct sample last;
    struct sample newest; /* of each value, though not all are in every sample */
    struct activity_log activity;
    struct sample history[SAMPLER_HISTORY]; /* ring buffer: sample i is at i % SAMPLER_HISTORY */
    double peak[SAMPLE_FIELDS];             /* NaN: never seen */
    unsigned lost;                          /* as of all samples (struct sample) */
    uint64_t samples, missed, rows;
    uint64_t stride; /* one row is written per this many samples */
    double max_gap_s, last_t_s;
    double tree_cpu_s;  /* of the test's processes, by the samples */
    double paused_s;    /* time in which the test was seen to be stopped */
    double timed_cpu_s; /* of the samples that were timed */
    double cpu_s;       /* of all, once finished */
    double other_cpu_s; /* of the back-ends' helpers, before the test */
    struct buf text;
    int fd; /* -1 after a row could not be written */
    char path[FS_PATH_MAX], part[FS_PATH_MAX];
};

/* Creates the file in dir. */
int sampler_open(struct sampler *s, struct telemetry *telemetry, const char *dir, struct err *err);
/* Takes what was measured before the test started. */
void sampler_before(struct sampler *s, const struct sample *before);
void sampler_take(struct sampler *s, double t_s, uint64_t missed);
/* Takes what was measured once all processes of the test were gone, at its end. */
void sampler_after(struct sampler *s, double end_s, const struct sample *after);
/* Takes the power that was noted meanwhile; start_s: of the test, by CLOCK_MONOTONIC. After sampler_after().
 */
void sampler_trace(struct sampler *s, double start_s, double end_s, const struct power_trace *trace);
/* Accounts for the gap up to the test's end and the ticks missed in it, flushes, renames the file.
 * interval_s: between two ticks. */
int sampler_finish(struct sampler *s, double end_s, double interval_s, struct err *err);
void sampler_release(struct sampler *s);
