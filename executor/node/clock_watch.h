/* clock_watch: tells whether the clocks that a run holds are those its GPUs have under load, by reading each
 * GPU's own clock and load while a test runs, at most ten times a second. Owns its descriptors.
 */
#pragma once

#include "executor/node/clocks.h"
#include "executor/telemetry/nvml.h"
#include "executor/telemetry/nvml_helper/due.h"

enum clock_verdict {
    CLOCKS_SEEN,   /* at least nine of ten samples under load are as asked for */
    CLOCKS_UNSEEN, /* too few samples under load to tell */
    CLOCKS_OTHER,  /* the GPU ran at other clocks */
};

struct clock_samples {
    uint32_t count, outside;     /* under load */
    double sum, lowest, highest; /* MHz */
};

struct clock_watch {
    const struct clocks *clocks;
    struct nvml *nvml;
    double last_s; /* since the test's start, of the last call */
    struct due due;
    struct {
        int clock_fd, busy_fd; /* -1: none */
        struct clock_samples seen;
    } gpu[CLOCKS_GPUS_MAX];
};

/* Watches all GPUs of clocks, which outlive the watch. nvml may be NULL. */
void clock_watch_open(struct clock_watch *w, const struct clocks *clocks, struct nvml *nvml);
void clock_watch_close(struct clock_watch *w);
/* t_s: since the test's start. Never blocks. */
void clock_watch_take(struct clock_watch *w, double t_s);
/* Judges the worst GPU by all samples so far. text: char[CLOCKS_NOTE_MAX], what is wrong; "": nothing. */
enum clock_verdict clock_watch_judge(const struct clock_watch *w, char *text);

/* Adds one sample of a GPU's clock. Pure. */
void clock_samples_add(struct clock_samples *s, const struct clocks_request *want, double mhz);
enum clock_verdict clock_samples_judge(const struct clock_samples *s);
