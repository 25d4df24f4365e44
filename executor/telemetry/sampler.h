/* sampler: the samples of one test: rows into vram_samples.jsonl, peaks, and how trustworthy they are (ticks
 * missed, the longest gap, the CPU time that sampling itself took). Rows thin out when a test is long, peaks
 * do not. Knows nothing of timers: the caller says when. Units: seconds, bytes, percent.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_SAMPLER_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_SAMPLER_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "executor/telemetry/telemetry.h"

#include <stdint.h>

enum { SAMPLER_HISTORY = 16 };

struct sampler {
    struct telemetry *telemetry; /* borrowed */
    struct sample before;        /* the level before the test started */
    struct sample last;
    struct sample history[SAMPLER_HISTORY]; /* a ring of the last ones: sample i is at i % SAMPLER_HISTORY */
    double peak[SAMPLE_FIELDS];             /* NaN: never seen */
    uint64_t samples, missed, rows;
    uint64_t stride; /* every how many samples one row is written */
    double max_gap_s, last_t_s, cpu_s;
    double other_cpu_s; /* of back-ends' helpers before the test */
    struct buf text;
    int fd; /* -1: a row could not be written any more */
    char path[FS_PATH_MAX], part[FS_PATH_MAX];
};

/* Creates the file in dir and takes the level before. */
int sampler_open(struct sampler *s, struct telemetry *telemetry, const char *dir, struct err *err);
void sampler_take(struct sampler *s, double t_s, uint64_t missed);
/* Notes the end of the test for the gap, flushes, renames the file. */
int sampler_finish(struct sampler *s, double end_s, struct err *err);
void sampler_release(struct sampler *s);

#endif
