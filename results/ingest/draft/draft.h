/* draft: a run as read from a folder or file, before it is stored.
 *
 * Readers (bundle, B3.89, imports) fill it and draft_store() writes it; neither knows the other. Readers
 * check and bound all strings. Problems that do not prevent storing are counted with draft_warn(). The owner
 * calls draft_release(). Errors: ERR_INPUT from readers, ERR_STORAGE from draft_store().
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/json.h"
#include "common/contract/keys.h"
#include "results/store/counter_list.h"
#include "results/store/details.h"
#include "results/store/revision.h"
#include "results/store/run_data.h"
#include "results/store/samples.h"
#include "results/store/store.h"

enum { DRAFT_EXTRAS_MAX = 64, DRAFT_FACTS_MAX = 1024, DRAFT_VARIANTS_MAX = 20000 };

/* How the folder of a run is to be read. */
struct ingest_options {
    const char *node;   /* of folders that do not name theirs (B3.89); NULL: "unknown" */
    const char *date;   /* 2026-02-12: of folders whose path has no date */
    const char *ticket; /* of folders whose files name none (B3.89); overrides what they name */
    int warmup;         /* B3.89: the first repetitions of each cell that are not counted; one always is */
    bool skip_samples;  /* do not store telemetry */
    bool replace;       /* replace a stored run that was read in another way */
};

struct draft_extra {
    char name[RUN_NAME_MAX];
    double value;
};

struct draft_test {
    struct run_test t;
    struct draft_extra *extras;
    size_t n_extras;
    char *packed; /* telemetry, or NULL */
    size_t packed_len;
    int packed_samples;
};

/* What decided what a cell's tests measured, as a hash; "": unknown. carried, budget, measured: as in struct
 * run_carried, of a cell that was left out. */
struct draft_fingerprint {
    char variant[RUN_NAME_MAX];
    int context;
    char sha256[SHA256_HEX_LEN + 1];
    bool carried, budget;
    char measured[CLOCK_DAY_LEN + 1];
};

struct draft {
    struct run_info info; /* without key and counts */
    struct run_variant *variants;
    size_t n_variants;
    size_t cap_variants;
    json_t *places; /* of variants, by name */
    struct draft_test *tests;
    size_t n_tests;
    size_t cap_tests;
    struct run_fact *facts;
    size_t n_facts;
    size_t cap_facts;
    struct metric_definition metrics[LIMIT_METRICS]; /* of the plan's or mapping's own */
    size_t n_metrics;
    struct run_unmeasured *unmeasured; /* asked for and without an artifact; may list a cell several times */
    size_t n_unmeasured;
    size_t cap_unmeasured;
    struct draft_fingerprint *fingerprints;
    size_t n_fingerprints;
    size_t cap_fingerprints;
    char *plan; /* its text, or NULL */
    struct run_details details;
    struct commit_list commits; /* that the run knows of */
    struct counter_list counters;
    bool replace; /* a run stored with another reading is replaced */
    int warnings;
    char warning[RUN_REASON_MAX];
    char note[RUN_REASON_MAX]; /* what the user should know, though nothing is wrong; or "" */
};

void draft_init(struct draft *d);
void draft_release(struct draft *d);

/* The pointer is valid until the next call. */
struct run_variant *draft_add_variant(struct draft *d, const char *name, struct err *err);
/* The index of the variant, or n_variants. */
size_t draft_variant(const struct draft *d, const char *name);
/* All values unknown, status OK. The pointer is valid until the next call. */
struct draft_test *draft_add_test(struct draft *d, struct err *err);
/* Removes the test that was added last. */
void draft_drop_test(struct draft *d);
/* A value that is not finite is ignored. */
int draft_add_extra(struct draft_test *t, const char *name, double value, struct err *err);
/* Packs the telemetry; also sets the number of samples, unless the executor recorded it. */
void draft_set_samples(struct draft_test *t, const struct samples *samples);
/* "metrics" of a job or mapping. */
int draft_read_metrics(struct draft *d, const struct json_at *at, enum document in, struct err *err);
/* Notes a test that was asked for and left no artifact. Cells that have another test are not unmeasured. */
void draft_add_unmeasured(struct draft *d, const char *variant, int context);
/* Zeroed; the pointer is valid until the next call. */
struct draft_fingerprint *draft_add_fingerprint(struct draft *d);
/* Long text is truncated; an empty value is ignored. */
int draft_add_fact(struct draft *d, const char *key, const char *value, struct err *err);
void draft_warn(struct draft *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Leaves out a part that cannot be believed, with a warning: returns 0 with err cleared if err is an
 * ERR_INPUT, else -1. */
int draft_leave_out(struct draft *d, struct err *err);

/* Sorts tests and facts, rejects duplicate tests, sets the attn_impl of a variant from its tests if unknown,
 * and the status of an OK test without a measurement to INVALID. The wall time is enough only in a bundle
 * none of whose tests has more. Times beyond the wall time are left out of foreign results. */
int draft_finish(struct draft *d, struct err *err);

/* Called inside the caller's transaction. reuse: the key of the row that was removed before, or 0. */
int draft_store(struct store *s, struct draft *d, int64_t reuse, int64_t *key, struct err *err);
