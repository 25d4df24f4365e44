/* timeline: one cell over all its nights: run, sources, median, and where its level changed (`kernsweep
 * history`).
 *
 * Read-only. The owner calls timeline_release(). Errors: ERR_INPUT if the filter matches no series, or
 * several (the message lists them).
 */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/nights/changes.h"
#include "results/store/commit_range.h"
#include "results/store/store.h"

/* NULL: any. */
struct timeline_filter {
    const char *variant; /* required, as context */
    int context;
    const char *node;
    const char *ticket;
    const char *mode;
    const char *tag;
    const char *metric; /* NULL: the primary one of the newest run */
    const char *gpu;    /* the beginning or end of its id */
    size_t nights;      /* only the newest so many; 0: all */
};

struct timeline_point {
    int64_t run_key;
    char run_id[RUN_ID_MAX];
    char date[11];
    char tag[RUN_NAME_MAX];
    char source_sha256[SHA256_HEX_LEN + 1];
    struct commit_range commits; /* since the point before it; `to` is its own commit */
    double median;
    int n;
    uint64_t device;       /* identity of the GPUs, 0 when unknown */
    char gpu[RUN_GPU_MAX]; /* their id, "" when the test does not name it */
    bool odd;              /* set aside: a single night far from its neighbours, or not positive */
};

struct timeline_change {
    struct change change; /* change.at and change.last are indices into points */
    struct fact_list
        facts; /* that differ between the last run of the level before and the first of the new */
    struct commit_range commits; /* between the same two */
};

struct timeline {
    char node[RUN_NODE_MAX];
    char ticket[RUN_NAME_MAX];
    char mode[16];
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    struct timeline_point *points; /* oldest first */
    size_t count;
    size_t
        left_out;   /* points of other GPUs: where a run measured the cell on several, one of them is shown */
    size_t changed; /* runs with local changes, which are no nights */
    struct timeline_change *changes;
    size_t n_changes;
};

int timeline_load(struct store *s, const struct timeline_filter *filter,
                  const struct changes_options *options, struct timeline *out, struct err *err);
void timeline_release(struct timeline *t);
