/* counter_list: what a profiler counted in untimed tests of a run: per variant, context and kernel, the mean
 * of each counter over the launches of the kernel.
 *
 * Read from a bundle (results/ingest/bundle/counters_csv.h). Names are untrusted: bounded and escaped there.
 * The owner calls counter_list_release(). Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

enum {
    COUNTER_KERNEL_MAX = 256,
    COUNTER_NAME_MAX = 129,
    COUNTER_UNIT_MAX = 33,
    COUNTERS_STORED_MAX = 20000, /* of a run */
};

struct counter {
    char variant[RUN_NAME_MAX];
    int context;
    char kernel[COUNTER_KERNEL_MAX];
    char name[COUNTER_NAME_MAX];
    char unit[COUNTER_UNIT_MAX]; /* "" if it has none */
    double value;
};

struct counter_list {
    struct counter *items; /* by variant, context, kernel, name */
    size_t count, cap;
};

/* NULL with err. */
struct counter *counter_list_add(struct counter_list *l);
void counter_list_release(struct counter_list *l);

/* Called inside the caller's transaction, after the run's variants were stored. What is listed twice is
 * stored once. */
int counters_store(struct store *s, int64_t run_key, const struct counter_list *l, struct err *err);
/* Loads the counters of the run or, if it has none, of the newest run that measured the same sources of its
 * plan again on its node. */
int counters_of_build(struct store *s, int64_t run_key, struct counter_list *out, struct err *err);
