/* scheduler: a plan's `scheduler` part, which job.json carries on: how a run is handed to Slurm.
 *
 * The harness and the executor read it by the same function, so that what one accepts the other does. Strings
 * are borrowed from the JSON, "" where not given; each may become one word of an argv. Knows nothing of how
 * Slurm is called. Times are in seconds.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_SCHEDULER_H
#define KERNSWEEP_COMMON_CONTRACT_SCHEDULER_H

#include "common/contract/keys.h"

enum scheduler_granularity {
    GRANULARITY_VARIANT, /* one array job a variant, one task of it a context */
    GRANULARITY_TEST,    /* one job a test, with that test's own time limit */
};

enum scheduler_build {
    BUILD_COMPUTE, /* in a job of its own, where the compilers and the GPUs are */
    BUILD_LOGIN,   /* where the run was submitted */
};

struct scheduler {
    bool on; /* false: the node is measured directly */
    const char *partition, *account, *qos, *gres, *constraint, *mem;
    const char *node_class; /* what the figures are stored and compared under; never "" */
    bool exclusive;
    enum scheduler_granularity granularity;
    enum scheduler_build build;
    int64_t cpus;            /* 0: as the cluster gives */
    int64_t max_parallel;    /* tasks of one array job at a time; 0: all */
    int64_t array_max;       /* tasks in one array job */
    double slack_s;          /* added to what a job's tests may take at most */
    double start_patience_s; /* how long no job may start before whoever follows gives up; 0: for ever */
    double patience_s;       /* how long the controller may be silent before whoever follows gives up */
    double poll_s;           /* between two looks at the queue */
};

extern const struct key scheduler_keys[];

/* at: the part, which may be absent or null. patience_s: unless the part gives its own. */
int scheduler_load(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err);

#endif
