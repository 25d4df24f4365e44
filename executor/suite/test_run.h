/* test_run: one test while it runs. Private to test.c (its phases), test_start.c (its process), test_end.c
 * (its result) and perf.c (its record).
 */
#pragma once

#include "executor/bundle/runlog.h"
#include "executor/process/child.h"
#include "executor/process/command.h"
#include "executor/suite/assess.h"
#include "executor/suite/container_end.h"
#include "executor/suite/folders.h"
#include "executor/suite/pause.h"
#include "executor/suite/test.h"
#include "executor/telemetry/hang.h"
#include "executor/telemetry/sampler.h"

enum { TEST_HEARTBEAT_S = 1 };

enum test_phase {
    TEST_PREPARES, /* the plan's command before it runs */
    TEST_MEASURES, /* the level before it */
    TEST_RUNS,     /* its processes, until all are gone */
    TEST_REMOVES,  /* its container */
    TEST_SETTLES,  /* the memory of its GPUs */
    TEST_JOB_ENDS  /* it may have died because the scheduler's job ends: that will be known in a moment */
};

/* The folder of its results. */
struct test_place {
    char dir[FS_PATH_MAX];
    char from[FS_PATH_MAX];   /* the folder that the plan starts it in; "": dir */
    int folder;               /* the same, open; -1: none */
    bool stuck;               /* it cannot be restored: nothing can be written there */
    unsigned replaced_before; /* how often its variant's folder had been, when it began */
};

/* What it prints. */
struct test_output {
    struct runlog log;
    uint64_t shown; /* bytes of the log at the last heart beat */
    struct timing_reader reader;
    unsigned long timings_found;
    double printed_s; /* when the timings arrived, since the start; NaN: never */
};

/* What is seen of it from outside. */
struct test_watch {
    struct sampler sampler;
    struct hang hang;
    struct pause pause;
    struct proctree_seen seen; /* its processes, as samples found them */
    struct buf evidence;       /* for diag.txt */
};

/* What it runs in. */
struct test_contained {
    struct contain_group group;
    bool grouped; /* it ran in a control group */
    struct container_use container;
    struct container_end end;
    bool by_engine;
    struct contain_hits hits;
};

/* GPU memory on its way back to its level before the test, within the job's limits: looked at after every
 * wait of the loop, so that other lanes go on meanwhile. */
struct settle {
    struct telemetry *telemetry; /* borrowed, as the timer */
    struct loop_watch *timer;
    double before, after; /* bytes; NaN without GPU telemetry */
    double tolerance;     /* bytes above `before` that count as back */
    struct sample end;    /* the first one after the test */
    bool asked;           /* for the next one */
    bool looked;          /* one was taken */
    bool back;
    int64_t until_ns;
};

struct test_run {
    struct suite *suite;
    struct lane *lane;
    size_t index;
    const struct job_test *test;
    const struct variant *variant;
    struct test_place place;
    struct test_output output;
    struct test_watch watch;
    struct test_contained contained;
    struct strvec argv, env;
    int compiled; /* files in the build's caches before it; -1: unknown */
    struct child_limits limits;
    struct child child;
    bool announced;              /* its start is in the journal */
    bool started;                /* the child, or the attempt to start it */
    char unprepared[REASON_MAX]; /* why the plan's command before it failed, so that it does not run; "" */
    struct assessment assessment;
    double started_real_s;
    int64_t start_ns;
    enum test_phase phase;
    struct loop_watch timer; /* of what follows the processes */
    struct settle settle;
    int64_t told_ns; /* the last heart beat */
};

/* Makes the test's folder, files and command. */
int test_start_prepare(struct test_run *r, struct err *err);
/* Starts the plan's command before it. */
int test_start_preparation(struct test_run *r, struct err *err);
/* Returns how many files the build's caches of compiled kernels have; -1: unknown. */
int test_caches_count(const struct test_run *r);
/* Starts its process, once the level before it is known. */
int test_start_process(struct test_run *r, struct err *err);
/* t_s: since it started. */
void test_start_heartbeat(struct test_run *r, double t_s);

/* Whether it died in a way that the end of the scheduler's job may explain, which is known a moment later. */
bool test_end_may_be_of_job(const struct test_run *r);
/* Writes its artifacts and its event, once its processes are gone and its GPUs' memory has settled. Does
 * nothing if the supervisor was told to end: the next one repeats the test. */
int test_end_finish(struct test_run *r, struct err *err);

enum { DIAG_MAX = 256 << 10 };

/* Adds state, wait channel and kernel stack (where readable) of root and its descendants to diag.txt. */
void test_diag_processes(struct buf *out, pid_t root, const struct secrets *secrets);
