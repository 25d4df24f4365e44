/* scheduler: the `scheduler` of a plan and of its job: how a run is handed to Slurm.
 *
 * Strings are borrowed from the JSON, "" where not given; each may become one word of an argv. Knows nothing
 * of how Slurm is called. Times are in seconds.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_SCHEDULER_H
#define KERNSWEEP_COMMON_CONTRACT_SCHEDULER_H

#include "common/contract/keys.h"

enum scheduler_granularity {
    GRANULARITY_VARIANT, /* an array job for each variant, with a task for each context */
    GRANULARITY_TEST,    /* a job for each test, with that test's own time limit */
};

enum scheduler_build {
    BUILD_COMPUTE, /* in a job of its own, on a compute node */
    BUILD_LOGIN,   /* where the run was submitted */
};

struct scheduler {
    bool on;          /* false: the node is measured directly */
    const char *kind; /* "slurm"; NULL when off */
    const char *partition, *account, *qos, *gres, *constraint, *mem;
    const char *node_class; /* what results are stored and compared under; never "" */
    bool exclusive;
    enum scheduler_granularity granularity;
    enum scheduler_build build;
    int64_t cpus;            /* 0: the cluster's default */
    int64_t max_parallel;    /* tasks of one array job at a time; 0: all */
    int64_t array_max;       /* tasks in one array job */
    double slack_s;          /* added to what a job's tests may take at most */
    double start_patience_s; /* how long a follower waits for the first job to start; 0: forever */
    double patience_s;       /* how long the controller may be silent before a follower gives up */
    double poll_s;           /* between two queries of the queue */
};

extern const struct key scheduler_keys[];

/* at: the value, which may be absent or null. patience_s: where it gives none of its own. */
int scheduler_load(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err);

#endif
