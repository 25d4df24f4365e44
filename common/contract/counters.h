/* counters: the "counters" object of a plan and its job: which hardware counters of its kernels a profiler
 * counts, in an untimed test after the timed ones. Strings are borrowed from the JSON.
 */
#pragma once

#include "common/contract/keys.h"

enum { LIMIT_COUNTERS = 32, LIMIT_COUNTER_NAME = 128 };

enum counters_tool { COUNTERS_AUTO, COUNTERS_NCU, COUNTERS_ROCPROFV3 };
enum counters_when {
    COUNTERS_CONFIRMED, /* of both builds, after a regression was confirmed */
    COUNTERS_ALWAYS,    /* of every run */
    COUNTERS_NEVER,
};

struct counters {
    bool on;
    int tool;   /* enum counters_tool */
    int when;   /* enum counters_when */
    int preset; /* used without names */
    const char *name[LIMIT_COUNTERS];
    size_t count;
};

extern const struct key counters_keys[];

/* at: the value, which may be absent or null. */
int counters_load(struct counters *c, const struct json_at *at, struct err *err);
/* Gives the plan's own names, or those of the preset for the tool (not COUNTERS_AUTO), NULL-terminated; out
 * has room for LIMIT_COUNTERS + 1. */
void counters_names(const struct counters *c, enum counters_tool tool, const char **out);
