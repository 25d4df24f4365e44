/* backend: one source of samples, as a table of functions. Another source is one file with its table,
 * declared here, and one line in telemetry.c. A back-end keeps its descriptors open and only reads, so that a
 * sample never blocks.
 */
#pragma once

#include "executor/telemetry/telemetry.h"

struct telemetry_backend {
    const char *name;
    bool per_test;                                        /* follows one process tree: opened for each test */
    void *(*open)(const struct telemetry_target *target); /* NULL: nothing to measure here */
    void (*read)(void *state, struct sample *out);        /* never blocks */
    /* For values that are newer than now: ask() requests them, answered() says whether they are there, and
     * read_fresh() gives them, or nothing. Without the last two, what read() gives is new. None of them
     * blocks. */
    void (*ask)(void *state);
    bool (*answered)(void *state);
    void (*read_fresh)(void *state, struct sample *out);
    void (*trace)(void *state, struct power_trace *out); /* goes with read_fresh(); NULL: none */
    double (*cpu_s)(void *state);                        /* used outside of this process; NULL: none */
    void (*close)(void *state);
};

extern const struct telemetry_backend telemetry_process_tree;
extern const struct telemetry_backend telemetry_amdgpu;
extern const struct telemetry_backend telemetry_kfd;
extern const struct telemetry_backend telemetry_nvml;
extern const struct telemetry_backend telemetry_neighbours;
