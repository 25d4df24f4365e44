/* noise_store: the stored noise of a plan's cells, from the newest A/A session (one `kernsweep noise`) of
 * each. Errors: ERR_STORAGE. */
#pragma once

#include "results/judge/noise.h"
#include "results/store/store.h"

/* For the node, ticket and mode of `run`. All cells get the same time: that of their session. */
int noise_save(struct store *s, const struct run_info *run, const struct noise *n, struct err *err);
int noise_load(struct store *s, const struct run_info *run, struct noise *out, struct err *err);

/* Which stored cells; NULL or 0 in a field: any. */
struct noise_filter {
    const char *node, *ticket, *variant;
    int64_t session_s; /* when it was measured, in seconds since the epoch */
};

/* The noise of one metric of one cell. */
struct noise_row {
    char node[RUN_NODE_MAX], ticket[RUN_NAME_MAX], mode[16], variant[RUN_NAME_MAX], metric[RUN_NAME_MAX];
    int context;
    int runs;
    double spread;
    char measured_at[CLOCK_ISO_LEN + 1];
};

struct noise_rows {
    struct noise_row *items; /* newest session first, then by node, ticket, variant, context and metric */
    size_t count;
};

int noise_list(struct store *s, const struct noise_filter *f, struct noise_rows *out, struct err *err);
void noise_rows_release(struct noise_rows *l);
/* *cells: how many cells lost their noise. */
int noise_remove(struct store *s, const struct noise_filter *f, int64_t *cells, struct err *err);
