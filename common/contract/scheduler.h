/* scheduler: the "scheduler" object of a plan and its job: how a run is submitted to Slurm.
 *
 * Strings are borrowed from the JSON, "" where not given; each may become one word of an argv. Times are in
 * seconds.
 */
#pragma once

#include "common/contract/keys.h"

enum scheduler_granularity {
    GRANULARITY_VARIANT, /* one array job per variant, one task per context */
    GRANULARITY_TEST,    /* one job per test, with the test's own time limit */
};

enum scheduler_build {
    BUILD_COMPUTE, /* in a separate job, on a compute node */
    BUILD_LOGIN,   /* where the run was submitted */
};

struct scheduler {
    bool on;          /* false: tests run directly on the node */
    const char *kind; /* "slurm"; NULL when off */
    const char *partition, *account, *qos, *gres, *constraint, *mem;
    const char *node_class; /* the node name that results are stored and compared under; never "" */
    bool exclusive;
    enum scheduler_granularity granularity;
    enum scheduler_build build;
    int64_t cpus;            /* 0: the cluster's default */
    int64_t max_parallel;    /* tasks of one array job that may run at a time; 0: all */
    int64_t array_max;       /* tasks per array job */
    double slack_s;          /* added to the sum of a job's test time-outs */
    double start_patience_s; /* how long a follower waits for the first job to start; 0: indefinitely */
    double patience_s;       /* how long the controller may be unreachable before a follower gives up */
    double poll_s;           /* between queries of the queue */
};

extern const struct key scheduler_keys[];

/* Returns how many GPUs a job asks for in its gres ("gpu:mi300x:2"); 0 where it names none. */
size_t scheduler_gpus(const struct scheduler *s);

/* at: the value, which may be absent or null. patience_s: the default for its patience_s. */
int scheduler_load(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err);
