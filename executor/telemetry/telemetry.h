/* telemetry: one sample of everything that can be measured while a test runs, from a table of back-ends (the
 * process tree; amdgpu and kfd through sysfs; NVML; other users). Knows nothing of timers or files.
 */
#pragma once

#include "executor/telemetry/sample.h"
#include "executor/workdir/layout.h"

#include <sys/types.h>

enum { TELEMETRY_BACKENDS = 5, TELEMETRY_GPUS_MAX = 64, TELEMETRY_ID_MAX = 96 };

struct nvml;
struct proctree_seen;

/* The GPUs whose samples are taken, by unique id, or index where they have none. None: all of them. */
struct telemetry_gpus {
    size_t count;
    char id[TELEMETRY_GPUS_MAX][TELEMETRY_ID_MAX];
};

struct telemetry_target {
    const struct layout *layout;
    struct nvml *nvml;                 /* borrowed; NULL: none */
    pid_t pid;                         /* root of the process tree; 0: none */
    struct proctree_seen *seen;        /* borrowed; gets the members of that tree; NULL: not wanted */
    const struct telemetry_gpus *only; /* filled in by telemetry_open() and telemetry_begin() */
};

struct telemetry {
    struct telemetry_gpus only;
    void *state[TELEMETRY_BACKENDS];
    int64_t patience_ns; /* until when what was asked for is awaited */
};

/* Opens the back-ends that live as long as the run. ids: the GPUs whose samples are taken, from now on;
 * `count` of them, 0 or too many stand for all. */
void telemetry_open(struct telemetry *t, const struct telemetry_target *target, const char *const *ids,
                    size_t count);
void telemetry_close(struct telemetry *t);
bool telemetry_uses(const struct telemetry_gpus *only, const char *id);
/* Opens and closes the back-ends that follow one test. */
void telemetry_begin(struct telemetry *t, const struct telemetry_target *target);
void telemetry_end(struct telemetry *t);
void telemetry_read(struct telemetry *t, double t_s, struct sample *out);
/* For levels before and after a test: requests values that are newer than now_ns. Waits for nothing: other
 * lanes have tests that are timed. */
void telemetry_ask(struct telemetry *t, int64_t now_ns);
/* Whether the values are there, or have been awaited for long enough, at t->patience_ns. */
bool telemetry_answered(const struct telemetry *t, int64_t now_ns);
/* Reads what was asked for, as far as it is there. */
void telemetry_read_fresh(struct telemetry *t, struct sample *out);
/* Gives the power of the time before that as its driver noted it, or nothing. */
void telemetry_trace(const struct telemetry *t, struct power_trace *out);
/* Returns the CPU time that back-ends have used outside of this process. */
double telemetry_cpu_s(const struct telemetry *t);
