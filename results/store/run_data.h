/* run_data: one stored run in memory: its facts, variants, tests and cells (variant x context).
 *
 * Plain data that comparisons and reports read (run_load.h fills it from a store). Strings are bounded
 * copies; run_data_release() frees the arrays. Variants are in the order of the plan, cells by variant and
 * context, tests by variant, context and repetition. Times are in seconds, memory in bytes; a number that was
 * not measured is NaN, an integer RUN_UNKNOWN.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "results/store/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RUN_ID_MAX = 128,
    RUN_NAME_MAX = LIMIT_NAME + 1,
    RUN_NODE_MAX = 256,
    RUN_REASON_MAX = 512,
    RUN_FACT_MAX = 256,
    RUN_READING_MAX = 512,
    RUN_SUBJECT_MAX = 160,
    COMMIT_ID_MAX = 65, /* of SHA-256, with its end */
    RUN_GPU_MAX = 512,  /* ids of the GPUs of one test */
    RUN_AXES_MAX = 1024,
    RUN_MODE_MAX = 32,
    RUN_IMAGE_MAX = 256,
    RUN_DIGEST_MAX = 160,
    RUN_UNKNOWN = -1,
};

struct run_counts {
    int total; /* warm-up and tests without an artifact included: more than the sum of the rest if there are
                  any */
    int ok;
    int failed;
    int skipped;
};

/* The commit that a run's sources were taken from. */
struct run_revision {
    char commit[COMMIT_ID_MAX]; /* "" when unknown: the rest is then empty */
    char branch[RUN_NAME_MAX];  /* "" for a detached head */
    char subject[RUN_SUBJECT_MAX];
    char authored_at[CLOCK_ISO_LEN + 1];
    bool dirty;                     /* the tree differed from the commit */
    char dirty_files[RUN_FACT_MAX]; /* one path per line, the first few */
};

struct run_info {
    int64_t key; /* the store's row */
    char run_id[RUN_ID_MAX];
    char ticket[RUN_NAME_MAX];
    char tag[RUN_NAME_MAX]; /* "" when none */
    char date[11];          /* 2026-02-14 */
    char node[RUN_NODE_MAX];
    char mode[16];   /* "perf", "debug" */
    char origin[16]; /* "bundle", "b3_89", "import" */
    enum run_status status;
    enum run_purpose purpose;
    char rejected[RUN_REASON_MAX];        /* why it is never compared; "" for a run that is not rejected */
    char plan_sha256[SHA256_HEX_LEN + 1]; /* "" when unknown, as all hashes */
    char source_sha256[SHA256_HEX_LEN + 1];
    char content_sha256[SHA256_HEX_LEN + 1]; /* of manifest.json, or of all files where there is none */
    char reading[RUN_READING_MAX]; /* what reading a foreign source depended on (ingest/draft/reading.h), or
                                      "" */
    char started_at[CLOCK_ISO_LEN + 1]; /* "" when unknown */
    char ended_at[CLOCK_ISO_LEN + 1];
    char bundle[FS_PATH_MAX]; /* the folder it was ingested from; may no longer exist */
    double wall_s;
    struct run_counts counts;
    struct run_revision revision;
    char sweep[RUN_ID_MAX]; /* shared by the runs that one command started on several nodes; "" for a run of
                               its own */
};

/* The digest of an image whose name stood for different ones in one run. */
#define IMAGES_SEVERAL "several"

struct run_variant {
    char name[RUN_NAME_MAX];
    char attn_impl[RUN_NAME_MAX]; /* "" when not checked */
    char kernel[RUN_NAME_MAX];    /* its name in a kernel plan, else "" */
    char shape[RUN_NAME_MAX];     /* what distinguishes it from the kernel's other shapes ("b4h1"), or "" */
    enum status status;           /* OK, BUILD_FAILED, GATE_FAILED, SKIPPED */
    char reason[RUN_REASON_MAX];
    double build_wall_s;
    bool build_cached;
    char code_sha256[SHA256_HEX_LEN + 1]; /* code identity: of the device code, or of the files that the build
                                             made; "" when unknown */
    bool code_of_device;                  /* what it is of: device code, else files */
    char axes[RUN_AXES_MAX];              /* values of the plan's axes, a JSON object, or "" */
    char image[RUN_IMAGE_MAX];            /* of its container, as the plan names it; "" without one */
    char image_digest[RUN_DIGEST_MAX];    /* on the node; "" when unknown, or IMAGES_SEVERAL */
    double value[METRIC_COUNT];           /* of the build; NaN for those not recorded and all others */
};

/* What the card did over the timed part of a test; the mean shader clock and the energy are metrics. NaN: not
 * measured. */
struct run_activity {
    double sclk_p5_mhz; /* 5th percentile */
    double mclk_mhz, mclk_p5_mhz;
    double power_w;       /* mean */
    double temp_c;        /* hottest */
    double throttled_s;   /* how long any reason to throttle held */
    const char *throttle; /* the reasons, separated by spaces; "" for none; a word() */
    bool joules_measured; /* by the card's accumulator; else from its power */
    int neighbours;       /* most processes of others seen on the GPU; RUN_UNKNOWN */
    char window[8];       /* what all of this is of: "timed", "busy", "test"; "" if unknown */
};

/* What a test used of memory and processor; the peaks are metrics. */
struct run_usage {
    double vram_before; /* bytes */
    double vram_after;
    double vram_max_gap_ms; /* the longest time without a sample: a peak in it went unnoticed */
    double cpu_user_s;
    double cpu_system_s;
};

/* The shape of what a test computed, as it printed it; NaN: it did not. */
struct run_work {
    double batch, heads, kv_heads, seq, head_dim;
};
#define RUN_WORK_UNKNOWN ((struct run_work){NAN, NAN, NAN, NAN, NAN})

struct run_test {
    size_t variant; /* index into variants */
    int64_t key;    /* the store's row: for telemetry */
    int context;
    int repetition;
    int index; /* position in execution order, from 1; RUN_UNKNOWN in other layouts */
    bool warmup;
    enum status status;
    const char *reason;           /* a word() */
    char attn_impl[RUN_NAME_MAX]; /* as the workload printed it */
    const char *host;             /* the machine that ran it, "" when unknown; a word() */
    const char *gpu;              /* its GPU's own id, several joined by '+'; "" when unknown; a word() */
    char gpu_mode[RUN_MODE_MAX];  /* "SPX/NPS1", "" when unknown */
    char contained[16]; /* what held it together: "cgroup", "scope", "group", "container"; "" unknown */
    int beside;         /* most tests of the run in flight on other GPUs meanwhile; RUN_UNKNOWN */
    int compiled;       /* files that it added to its build's caches of compiled kernels; RUN_UNKNOWN */
    char started_at[CLOCK_ISO_LEN + 1];
    int exit_code;
    int signal;
    int64_t prompt_tokens;
    double timeout_s;
    struct run_usage used;
    int samples; /* telemetry samples taken; RUN_UNKNOWN */
    struct run_activity activity;
    struct run_work work;
    double value[METRIC_COUNT];
};

/* All repetitions of one (variant, context). */
struct cell {
    size_t variant; /* index into variants */
    int context;
    const char *attn_impl; /* the first that a test printed, else ""; points into tests */
    size_t first;          /* its tests: tests[first .. first + count - 1], warm-up ones included */
    size_t count;
    int counted;        /* repetitions that are not warm-up */
    int ok;             /* of those, the ones that are OK */
    enum status status; /* OK if every counted repetition is, else the first other status */
    const char *reason; /* of that repetition, "" if OK; points into tests */
    double timeout_s;
    double median[METRIC_COUNT]; /* over counted OK repetitions */
    uint16_t n[METRIC_COUNT];    /* how many values are behind each median */
};

/* A property of the node or of the job's environment: "driver", "rocm", "env.HIP_LAUNCH_BLOCKING". */
struct run_fact {
    char key[RUN_FACT_MAX];
    char value[RUN_FACT_MAX];
};

/* A cell that the run was asked to measure and has no test of. */
struct run_unmeasured {
    char variant[RUN_NAME_MAX];
    int context;
};

/* A cell that was not measured, because nothing that it depends on had changed since it last was, or because
 * the run's budget did not suffice for it. */
struct run_carried {
    char variant[RUN_NAME_MAX];
    int context;
    char measured[CLOCK_DAY_LEN + 1]; /* the date of the run that measured it last; "": never, or unknown */
    bool budget;                      /* the budget is why */
};

struct run_data {
    struct run_info info;
    struct run_variant *variants;
    size_t n_variants;
    size_t *by_name; /* the first n_by_name variants in the order of their names, or NULL */
    size_t n_by_name;
    struct run_test *tests;
    size_t n_tests;
    struct cell *cells;
    size_t n_cells;
    struct run_fact *facts; /* sorted by key */
    size_t n_facts;
    enum metric primary; /* the run's own definition of what it is judged by; METRIC_COUNT: none */
    struct run_unmeasured *unmeasured;
    size_t n_unmeasured;
    struct run_carried *carried; /* by variant and context */
    size_t n_carried;
};

void run_data_release(struct run_data *r);

/* Whether a model read or wrote tokens in the part of the test that was sampled: energy per token means
 * nothing of a kernel, nor of a whole process. RUN_TEST_HAS_TOKENS says the same in SQL of table test t. */
bool run_test_has_tokens(const struct run_test *t);
#define RUN_TEST_HAS_TOKENS "t.activity_window = 'timed' AND (t.tokenize_s > 0 OR t.decode_s > 0)"

/* Makes all of it unknown. */
void run_activity_init(struct run_activity *a);

/* Fails with ERR_INPUT for a rejected run, with its reason and how to accept it again. */
int run_check_comparable(const struct run_info *r, struct err *err);

/* From now on run_data_variant() finds variants in as many steps as their number has bits, as long as none
 * is added. */
void run_data_index(struct run_data *r);

/* Groups r->tests (ordered by variant, context, repetition) into r->cells. */
void run_data_make_cells(struct run_data *r);

/* NULL if there is none. */
const struct cell *run_data_cell(const struct run_data *r, const char *variant, int context);
const struct run_variant *run_data_variant(const struct run_data *r, const char *name);
const char *run_data_fact(const struct run_data *r, const char *key);
/* The variant that the others are compared with: `wanted` if not NULL (an error if absent), else the one
 * named "baseline", else the first. *out is an index into variants. */
int run_data_reference(const struct run_data *r, const char *wanted, size_t *out, struct err *err);
/* The variant that `variant` is compared with: the reference, or in a kernel plan the reference's kernel at
 * the same shape. Points of one kernel are all compared with the reference. n_variants if there is none. */
size_t run_data_counterpart(const struct run_data *r, size_t variant, size_t reference);
/* What the counterparts are called together: the reference's kernel, else the reference. */
const char *run_data_reference_name(const struct run_data *r, size_t reference);
/* Adds the metrics that were measured in any of the run's cells. */
void run_data_measured(const struct run_data *r, struct metric_set *set);
/* The primary metric of this run alone. */
enum metric run_data_metric(const struct run_data *r);
/* Values of one metric over the counted OK repetitions. Returns how many; out has room for cell->count. */
size_t run_data_values(const struct run_data *r, const struct cell *c, enum metric m, double *out);
