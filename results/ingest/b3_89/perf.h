/* perf: the perf.json of a B3.89 executor, and the test it belongs to.
 *
 * That executor wrote <date>/<ticket>[_<tag>]/<variant>/ctx_<N>_run<i>/perf.json, its first version
 * .../runs/ctx_<N>/; both with few keys, without a manifest, and with JSON assembled as text.
 */
#pragma once

#include "results/ingest/bundle/artifact.h"

struct b3_place {
    char variant[RUN_NAME_MAX]; /* "" when the path has none */
    int context;                /* RUN_UNKNOWN, as repetition */
    int repetition;
};

bool b3_is_perf(const char *rel);
/* The caller json_decref()s it. Timings without a value count as missing, and the last of several lines of
 * timings counts, each with a warning. NaN and numbers as bc prints them are accepted (lenient.h). */
json_t *b3_perf_load(const char *full, struct draft *d, struct err *err);

int b3_place_parse(const char *rel, const char *full, struct b3_place *p, struct err *err);
/* Completes the place from the keys of the file, if present; contradictions are errors. */
int b3_place_settle(const struct json_at *perf, struct b3_place *p, struct err *err);

/* The VRAM of a test, from the output of rocm-smi that was stored beside perf.json. full: the path of
 * perf.json. Missing and unreadable files count as not measured. */
int b3_memory_read(const char *full, bool skip_samples, struct draft_test *t, struct err *err);
