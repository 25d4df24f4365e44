/* acceptance: findings that somebody accepted: what the cell had in that run is expected from the finding's
 * first night on. The owner calls acceptances_release(). Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

struct acceptance {
    char run_id[RUN_ID_MAX];
    char date[11];              /* of the run */
    int64_t measured_at;        /* the run; milliseconds since the epoch */
    char variant[RUN_NAME_MAX]; /* "": what all cells have in common; context is 0 then */
    int context;
    enum metric metric;
    char who[RUN_NAME_MAX];
    char reason[RUN_REASON_MAX];
    int64_t accepted_at; /* milliseconds since the epoch */
};

struct acceptances {
    struct acceptance *items; /* the oldest run first */
    size_t count;
};

/* All of them or none; run_id, variant, context, metric, who and reason are stored, as accepted now. */
int acceptances_save(struct store *s, const struct acceptances *a, struct err *err);
/* Those of the runs of this plan, node, mode and tag; NULL: of all. Runs that were rejected or removed have
 * none. */
int acceptances_load(struct store *s, const struct run_info *run, struct acceptances *out, struct err *err);
/* Drops those of a run: of this variant (NULL: of any) at this context (negative: at any). */
int acceptances_drop(struct store *s, const char *run_id, const char *variant, int context, int *dropped,
                     struct err *err);
void acceptances_release(struct acceptances *a);
