/* lane: a set of GPUs of this node on which at most one test runs at a time: usually one GPU, several where a
 * test wants several, none on a node without GPUs. Owns what belongs to the GPUs and not to one test: their
 * samples, what the environment of a test must say of them, and why the lane takes no more tests. Which test
 * is next is lane_queue's matter; locks are node_lock's.
 */
#pragma once

#include "common/base/strvec.h"
#include "executor/node/gpu_health.h"
#include "executor/node/gpu_use.h"
#include "executor/process/ending.h"
#include "executor/process/near.h"
#include "executor/process/oom.h"
#include "executor/telemetry/telemetry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct test_run;

enum { LANES_MAX = GPU_USE_MAX, LANE_VARIABLES_MAX = 4, LANE_NAME_MAX = 192, LANE_VALUE_MAX = 8192 };

/* A variable that is added to the environment of every test of a lane. */
struct lane_variable {
    char name[32];
    char value[LANE_VALUE_MAX];
};

struct lane {
    size_t index;
    bool kept;                /* there are other lanes, so other children run beside its tests */
    char name[LANE_NAME_MAX]; /* in messages: "GPU 1d0f..." */
    struct gpu_use gpus;      /* count 0: a node without GPUs that are known */
    json_t *ids;              /* owned; ["id", ...], for events */
    json_t *facts;            /* owned; [{"id", "index", "pci", "mode"}], for perf.json */
    struct lane_variable variable[LANE_VARIABLES_MAX];
    size_t variable_count;
    struct telemetry telemetry;
    struct gpu_health health;
    struct near near; /* where its tests run, when there are other lanes */
    struct oom oom;
    double left_bytes;        /* that its tests have left of it so far */
    double first_bytes;       /* of its memory in use before the run's first test on it; 0: not known */
    double told_bytes;        /* how much more of it was told of */
    char dirty[REASON_MAX];   /* why it takes no more tests; "" while it does */
    struct test_run *running; /* owned; NULL: none */
    size_t beside;            /* most tests on other lanes while the running one ran */
};

struct lanes {
    struct lane *lane; /* owned */
    size_t count;      /* at least 1 once open (see lanes_open()) */
};

void lanes_close(struct lanes *l);
/* Counts a test that has begun as a neighbour of those on other lanes, and them as its own. */
void lanes_note_beside(struct lanes *l, struct lane *begun);
/* Sets the lane's variables in the environment of a test. */
void lane_environment(const struct lane *lane, struct strvec *env);
