/* job: job.json as a struct: what to build, gate and run, in which order, within which limits. Whoever wrote
 * it, every name, number and placeholder is checked here again, so that the rest may trust it. Strings are
 * borrowed from the JSON, which the job keeps. Knows nothing of processes or paths.
 */
#ifndef KERNSWEEP_EXECUTOR_JOB_JOB_H
#define KERNSWEEP_EXECUTOR_JOB_JOB_H

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/contract/gate.h"
#include "common/contract/patch.h"
#include "common/contract/scheduler.h"
#include "common/contract/subst.h"
#include "executor/run/timings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOB_SHAPE_MAX = 24 };

struct job_command {
    const char **argv; /* templates (see subst), NULL-terminated; the array is owned */
    size_t argc;
};

struct job_env {
    const char **name; /* both arrays are owned */
    const char **value;
    size_t count;
};

struct job_gate {
    enum gate_kind kind;
    const char *name;       /* that of its kind when the plan gives none */
    double limit;           /* of kinds that have one */
    struct job_command run; /* of kinds that have one */
    double timeout_s;
};

struct job_variant {
    const char *name;
    const char *attn_impl; /* "" is not checked */
    const char *build_as;  /* whose build it is: its own name, or one that several share */
    /* Of a kernel's launch, by placeholder; "" where there is none. */
    char shape[SUBST_COUNT][JOB_SHAPE_MAX];
    struct job_command *build;
    size_t build_count;
    struct job_command run;
    struct job_env env;
    struct job_gate *gate;
    size_t gate_count;
    struct patch *patch; /* of the staged tree, in this order */
    size_t patch_count;
};

struct job_test {
    size_t variant; /* index into variants */
    int64_t context;
    int64_t repetition;
    double timeout_s;
    bool warmup;
    bool elsewhere;   /* not in this part of the job */
    int64_t attempts; /* earlier ones, in other parts */
};

/* What one task of a scheduler's job does of the whole: it prepares a variant (build, gates), or it runs
 * tests of it with the build that is there. */
struct job_part {
    bool on; /* false: this process does the whole job */
    size_t variant;
    bool prepare;
    const char *build;  /* key of the build to use; "": to be built here */
    const char *host;   /* what the scheduler calls this machine */
    const char *fence;  /* a file: once it is there, nobody waits for this task any more */
    const char *cancel; /* a file: it is there when the user asked for the whole run's end */
};

struct job {
    json_t *root; /* owned */
    const char *run_id, *ticket, *tag, *date, *mode, *node;
    const char *source_sha256; /* NULL: no staged tree */
    bool fresh;                /* builds that are kept are made anew */
    const char *model;         /* the file that tests will read; NULL: none is named */
    const json_t *preflight;   /* what the harness warned of before it started; NULL: nothing */
    struct job_env env;
    const char **secret; /* names; the array is owned */
    size_t secret_count;
    double build_timeout_s, lock_wait_s, kill_grace_s;
    double hang_after_s, no_output_timeout_s; /* 0: off */
    int64_t sample_interval_ms;
    int64_t log_limit_bytes;
    double vram_settle_s; /* how long GPU memory may take to come back after a test */
    int64_t vram_tolerance_bytes;
    bool prompt_tokens_required;
    struct timing_rule timings;
    struct scheduler scheduler;
    struct job_part part;
    struct job_variant *variant;
    size_t variant_count;
    struct job_test *test; /* test_index is the position + 1 */
    size_t test_count;
};

/* Takes root (also when it fails). file is for messages. */
int job_init(struct job *job, json_t *root, const char *file, struct err *err);
void job_release(struct job *job);

bool job_is_secret(const struct job *job, const char *name);

#endif
