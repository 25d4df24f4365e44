/* telemetry: one sample of everything that can be measured while a test runs, from a table of back-ends (the
 * process tree; amdgpu and kfd through sysfs; NVML; other users). Knows nothing of timers or files.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_TELEMETRY_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_TELEMETRY_H

#include "executor/telemetry/sample.h"
#include "executor/workdir/layout.h"

#include <sys/types.h>

enum { TELEMETRY_BACKENDS = 5 };

struct nvml;

struct telemetry_target {
    const struct layout *layout;
    struct nvml *nvml; /* borrowed; NULL: none */
    pid_t pid;         /* root of the process tree; 0: none */
};

struct telemetry {
    void *state[TELEMETRY_BACKENDS];
};

/* Opens the back-ends that live as long as the run. */
void telemetry_open(struct telemetry *t, const struct telemetry_target *target);
void telemetry_close(struct telemetry *t);
/* Opens and closes those that follow one test. */
void telemetry_begin(struct telemetry *t, const struct telemetry_target *target);
void telemetry_end(struct telemetry *t);
void telemetry_read(struct telemetry *t, double t_s, struct sample *out);
/* For levels before and after a test, when nothing is timed. */
void telemetry_read_fresh(struct telemetry *t, struct sample *out);
/* CPU time that back-ends have used outside of this process. */
double telemetry_cpu_s(const struct telemetry *t);

#endif
