/* job: job.json as a struct: what to build, gate and run, in which order, within which limits. All names,
 * numbers and placeholders are validated here, so the rest of the executor may trust them. What a job shares
 * with a plan is read by common/contract. Strings are borrowed from the JSON, which the job owns.
 */
#pragma once

#include "common/contract/counters.h"
#include "common/contract/gpu_wish.h"
#include "common/contract/scheduler.h"
#include "common/contract/settings.h"
#include "common/contract/timing_rule.h"
#include "common/contract/variant.h"

/* The tests are in the order in which they run. */
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
    const char *gpu;      /* the GPU, or the first of the GPUs, that it must run on; NULL: any */
    double expected_s;    /* wall time on earlier nights (a hint); 0: unknown */
    const char *unless;   /* the fingerprint with which its cell need not be measured; NULL: it must be */
    const char *measured; /* the date when the cell was last measured; NULL: unknown */
    int64_t turn;         /* which of the cells is first among those with as good a reason */
    bool open;            /* it is measured nonetheless, as what it last measured decided nothing */
    bool smoke;           /* it is measured in any case */
    bool elsewhere;       /* belongs to another part of the job */
    int64_t attempts;     /* earlier attempts, in other parts */
};

/* The share of a job that one task of a scheduler job does: it prepares a variant (build and gates), or runs
 * tests of that variant with an existing build. */
struct job_part {
    bool on; /* false: this process does the whole job */
    size_t variant;
    bool prepare;
    const char *build;  /* key of the build to use; "": build it here */
    const char *host;   /* the scheduler's name for this machine */
    const char *fence;  /* a file: once it exists, the results of this task are no longer needed */
    const char *cancel; /* a file: exists once the user has cancelled the run */
};

struct job {
    json_t *root; /* owned */
    const char *run_id, *date, *node;
    const char *source_sha256; /* NULL: no source tree */
    bool fresh;                /* ignore cached builds */
    bool compile_only;         /* only build: no GPU is used or asked for its code, no gate runs */
    int purpose;               /* enum run_purpose */
    int64_t controls; /* measure what changed, and the cells of so many first turns; 0: measure all */
    double budget_s;  /* with controls: for the tests of each lane, by what is expected of them; 0: any */
    const json_t *preflight; /* the harness's warnings about the node, or NULL */
    struct settings settings;
    struct secret_names secrets;
    struct env env;
    struct timing_rule timings;
    struct own_metrics metrics;
    struct scheduler scheduler;
    struct gpu_wish gpus;
    struct counters counters; /* to be counted in this run */
    struct job_part part;
    struct variant *variant;
    size_t variant_count;
    struct job_test *test; /* test_index is the array index + 1 */
    size_t test_count;
};

/* The keys that only a job has, its tests and its part; the others are settings_keys. */
extern const struct key job_keys[], test_keys[], part_keys[], part_test_keys[];

/* Takes ownership of root, even on failure. file is for messages. */
int job_init(struct job *job, json_t *root, const char *file, struct err *err);
void job_release(struct job *job);

bool job_is_secret(const struct job *job, const char *name);
