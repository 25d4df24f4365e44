/* suite: one run under supervision: the job, its paths, the state of each variant and test, and everything
 * that lives as long as the run (journal, loop, telemetry). The modules that act on it (prepare,
 * test, run) each do one thing; supervise and placement call them in order.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "common/contract/subst.h"
#include "executor/bundle/job.h"
#include "executor/bundle/journal.h"
#include "executor/bundle/secrets.h"
#include "executor/node/clock_watch.h"
#include "executor/node/gpu_choice.h"
#include "executor/process/contain.h"
#include "executor/process/ending.h"
#include "executor/process/loop.h"
#include "executor/suite/eta.h"
#include "executor/suite/lane.h"
#include "executor/telemetry/nvml.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/mark.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum { ATTEMPTS_MAX = 3 };

/* Whether a variant's build and sources are as they were sealed; see prepare/untouched.h. */
struct seal_state {
    double look_cost_s, looked_s; /* CPU time of the last look; monotonic time of its end, 0: none */
    bool told_unread;             /* that they could not be read */
    bool changed_before;          /* by builds or gates: they are not looked at any more */
    char *damage;                 /* owned; what was changed first; NULL: nothing as far as is known */
};

struct variant_state {
    enum status status; /* STATUS_OK, STATUS_BUILD_FAILED, STATUS_GATE_FAILED */
    char reason[REASON_MAX];
    char dir[FS_PATH_MAX];               /* of the variant in the bundle */
    double left_bytes;                   /* of GPU memory, by its tests so far */
    bool no_memory;                      /* a test of it ended that was not seen to use GPU memory */
    int folder;                          /* the same, open; -1: it is not made yet, or stuck */
    char stuck[REASON_MAX];              /* Why its results folder cannot be restored; "" while it can. */
    unsigned replaced;                   /* how often something else was found in its place */
    char build[FS_PATH_MAX];             /* {build} */
    char build_key[SHA256_HEX_LEN + 1];  /* "" until known */
    char caches[FS_PATH_MAX];            /* of kernels that its tests compile; see suite_caches() */
    char src[FS_PATH_MAX];               /* {src}; "" without a staged tree */
    char base[FS_PATH_MAX];              /* what src is a copy of, for a build of its own; else "" */
    char source_key[SHA256_HEX_LEN + 1]; /* identifies the tree in src; "" without one */
    double build_wall_s;
    bool build_cached;
    struct seal_state seal;
    enum container_engine engine; /* of its container; ENGINE_AUTO until known */
    char image_digest[160];       /* "" until known */
    json_t *gates;                /* owned; of summary.json */
    json_t *resources;            /* owned; the build's resources.json, NULL: none */
};

/* Why the tests of a cell are left out. */
enum carry { CARRY_NOT, CARRY_UNCHANGED, CARRY_BUDGET };

struct test_state {
    bool final; /* has its artifact */
    bool ended; /* the journal has its final TEST_END or TEST_SKIP */
    unsigned attempts;
    bool in_flight;          /* the journal has a start without an end */
    const struct lane *lane; /* that it runs or ran on; NULL: none in this process */
    char *ran_on;            /* owned; the first GPU of an earlier attempt or supervisor; NULL: unknown */
    enum status status;
    double wall_s, prefill_s;      /* NaN: none */
    double own;                    /* the value of the job's own primary metric; NaN: none */
    double judged;                 /* what its cell is judged by; NaN: nothing */
    json_t *metrics;               /* owned; {name: value} of the job's own metrics; NULL: none */
    char seal[SHA256_HEX_LEN + 1]; /* sha256 of its perf.json as this executor, or an earlier one, wrote it */
    bool needless;                 /* left out: its cell is known well enough */
    enum carry carry;              /* the same, for the sake of its cell */
    char fingerprint[SHA256_HEX_LEN + 1]; /* of its cell, in the cell's first test; "" unknown */
    char *changing;                       /* owned; why it is unknown; NULL: it is known, or not asked for */
    bool unverified; /* its build and sources have not been found as sealed since just before it began */
    char *reason;    /* owned; NULL: none */
    char *doubt;     /* owned; why it cannot be believed, found since it began; NULL: no doubt */
};

/* What the journal tells of earlier supervisors of the run. */
struct suite_past {
    bool resumed, started, closed;
    double earlier_s; /* how long they worked on it, by the journal's times: until the last event of each */
    double unattended_s; /* how long there was none */
    double last_event_s;
    json_t *relayed; /* owned; by attempt: seq of the last event relayed from its journal */
};

struct suite_time {
    char started_at[32]; /* by the first supervisor */
    int64_t start_ns;    /* of this one */
    int64_t last_sync_ns;
};

/* The clocks of the GPUs; none are held unless the plan asks. */
struct suite_clock {
    struct clocks held;
    struct clock_watch watch;
    char warning[REASON_MAX]; /* what is wrong with them; "" when nothing is */
};

/* What all processes of the run have in common. */
struct suite_processes {
    struct contain contain; /* how they are held together */
    bool signals_kept;      /* isolated tests cannot signal other processes */
    bool told_unbound;      /* that tests are not bound to what is near their GPU */
    rlim_t files; /* the limit of open files that this process was given, and its tests get; 0: not raised */
};

struct suite {
    const struct layout *layout;
    char dir[FS_PATH_MAX];       /* of the run */
    char src[FS_PATH_MAX];       /* the staged tree, unpatched; "" without one */
    char mark[WORKDIR_MARK_MAX]; /* of the workdir, in the environment of its tests */
    struct job job;
    struct secrets secrets;
    struct journal journal;
    struct loop loop;
    struct nvml nvml;
    struct gpu_choice gpus; /* those that the run has */
    struct lanes lanes;     /* opened once the GPUs of the run are chosen */
    struct eta eta;
    struct suite_past past;
    struct suite_time time;
    struct suite_clock clock;
    struct suite_processes processes;
    struct variant_state *variant;
    struct test_state *test;
    unsigned told_lost;       /* bits of the quantities whose impossible values were told of */
    size_t tests_done;        /* final ones */
    size_t needless;          /* tests left out */
    json_t *node;             /* owned; facts of probe */
    char partial[REASON_MAX]; /* why tests were left out; "" when none were */
    char dirty[REASON_MAX];   /* why no further test may run on this node; "" when it is clean */
};

int suite_open(struct suite *s, const struct layout *layout, const char *run_id, struct err *err);
void suite_release(struct suite *s);

/* Returns the folder for what a variant's tests compile while they run; NULL in a container, which has its
 * own. What an isolated test compiles is gone with it. */
const char *suite_caches(const struct suite *s, size_t variant, bool isolated);
/* Returns the values of the placeholders that a variant's commands share; tests add their own. */
struct subst suite_subst(const struct suite *s, size_t variant);
void suite_test_result(struct suite *s, size_t test, const struct assessment *v, double wall_s,
                       double prefill_s);
/* Writes a NODE event with a message for whoever follows the run. */
int suite_note(struct suite *s, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the plan's limits of each test. */
struct contain_limits suite_limits(const struct suite *s);
/* Returns the fields that every event of a test has. */
json_t *suite_test_fields(const struct suite *s, size_t test);
/* Gives <variant>/ctx_<N>_run<i> in the bundle. out: char[FS_PATH_MAX]. */
int suite_test_dir(const struct suite *s, size_t test, char *out, struct err *err);
/* Gives the same, below the bundle. out: char[FS_PATH_MAX]. */
void suite_test_rel(const struct suite *s, size_t test, char *out);
/* Returns the value of "suite_eta_s": a number, or null while unknown. */
json_t *suite_eta(const struct suite *s);
/* Returns the machine that runs the tests of this process; "" until known. */
const char *suite_host(const struct suite *s);
/* Whether the user cancelled the run. A file says so, since a shutdown of the node sends the same signal. */
bool suite_cancelled(const struct suite *s);
