/* telemetry: one sample of everything that can be measured while a test runs, behind one interface with a
 * table of back-ends (the process tree; amdgpu and kfd through sysfs; NVML). A back-end keeps its descriptors
 * open and only preads. What is not available is NaN and its key is absent in artifacts, never 0. Knows
 * nothing of timers or files.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_TELEMETRY_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_TELEMETRY_H

#include "executor/workdir/layout.h"

#include <stdbool.h>
#include <sys/types.h>

enum sample_field {
    SAMPLE_RSS,           /* bytes, of the process tree */
    SAMPLE_CPU,           /* percent of one core, of the process tree, over at least 100 ms */
    SAMPLE_VRAM_USED,     /* bytes, all GPUs together */
    SAMPLE_VRAM_PROC,     /* bytes, of the process tree, as kfd tells */
    SAMPLE_GPU_BUSY,      /* percent, the busiest GPU */
    SAMPLE_MEM_BUSY,      /* percent of the memory's bandwidth, the busiest GPU */
    SAMPLE_POWER,         /* watts, all GPUs together */
    SAMPLE_TEMP_JUNCTION, /* degrees C, the hottest GPU */
    SAMPLE_TEMP_MEM,      /* degrees C, the hottest GPU */
    SAMPLE_SCLK,          /* MHz, the fastest GPU */
    SAMPLE_FIELDS
};

struct sample {
    double t_s; /* since the test's start */
    double value[SAMPLE_FIELDS];
    bool runnable; /* some process of the tree runs, or waits only for a core */
};

/* The key in vram_samples.jsonl. */
const char *sample_key(enum sample_field field);
bool sample_is_whole_number(enum sample_field field);
void sample_clear(struct sample *s, double t_s);
bool sample_has(const struct sample *s, enum sample_field field);
/* Adds to, or takes the greater of, what another GPU or process gave. */
void sample_add(struct sample *s, enum sample_field field, double value);
void sample_max(struct sample *s, enum sample_field field, double value);

struct nvml;

struct telemetry_target {
    const struct layout *layout;
    struct nvml *nvml; /* borrowed; NULL: none */
    pid_t pid;         /* root of the process tree; 0: none */
};

struct telemetry_backend {
    const char *name;
    bool per_test;                                        /* follows one process tree: opened for each test */
    void *(*open)(const struct telemetry_target *target); /* NULL: there is nothing to measure */
    void (*read)(void *state, struct sample *out);        /* never waits */
    void (*read_fresh)(void *state, struct sample *out);  /* may wait; NULL: read is fresh */
    double (*cpu_s)(void *state);                         /* that it used elsewhere; NULL: none */
    void (*close)(void *state);
};

extern const struct telemetry_backend telemetry_process_tree;
extern const struct telemetry_backend telemetry_amdgpu;
extern const struct telemetry_backend telemetry_kfd;
extern const struct telemetry_backend telemetry_nvml;

enum { TELEMETRY_BACKENDS = 4 };

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
/* CPU time that back-ends used outside of this process. */
double telemetry_cpu_s(const struct telemetry *t);

#endif
