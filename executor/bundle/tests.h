/* tests: the tests of a job, in the order in which they run. */
#pragma once

#include "common/contract/variant.h"

struct job_test {
    size_t variant; /* index into the job's variants */
    int64_t context;
    int64_t repetition;
    double timeout_s;
    double until;  /* percent: not needed once the interval of the cell's median is this narrow; 0: always */
    int64_t least; /* measured repetitions of the cell before that */
    bool warmup;
    const char
        *home; /* the GPU that measured this cell last (a hint); several ids joined by '+'; NULL: unknown */
    const char *gpu;   /* the GPU, or the first of the GPUs, that it must run on; NULL: any */
    double expected_s; /* wall time on earlier nights (a hint); 0: unknown */
    bool elsewhere;    /* belongs to another part of the job */
    int64_t attempts;  /* earlier attempts, in other parts */
};

extern const struct key test_keys[];

/* The caller free()s *out even after a failure. */
int tests_read(struct job_test **out, size_t *count, const struct json_at *at, const struct variant *variants,
               size_t variant_count, struct err *err);
