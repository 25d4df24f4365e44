/* ticket: a ticket over its dates: its sweeps from the oldest, what each measured of one variant, the
 * reference, how each was judged, which were blocked and by what, and the notes about it.
 *
 * Every run is judged as its own report judges it without a base: by the nights before or, where these are
 * too few, by the run before it on the same node in the same mode. The owner calls ticket_model_release(),
 * also after an error. Errors: ERR_INPUT for a ticket that no run has, ERR_STORAGE.
 */
#pragma once

#include "reports/model/model.h"
#include "results/judge/compare.h"
#include "results/store/note.h"
#include "results/store/run_data.h"

enum { TICKET_RUNS_MAX = 60, TICKET_CONTEXTS_MAX = 8 };

struct ticket_run {
    struct run_info info;
    bool measured;                     /* it has a good test */
    char reason[RUN_REASON_MAX];       /* why it is BLOCKED; "" if it is not, or unknown */
    char pending[MODEL_PENDING_MAX];   /* the command that was to run; "" if unknown */
    double value[TICKET_CONTEXTS_MAX]; /* medians of the reference; NaN */
    size_t before;                     /* the measured run before it on its node in its mode; n_runs: none */
    bool compared;
    char baseline[RUN_NAME_MAX]; /* what it was compared with: its plan's; "" for others */
    char against[RUN_ID_MAX];    /* the run; "" for a baseline and for the nights */
    int verdicts[VERDICT_COUNT]; /* of the primary metric */
};

struct ticket_model {
    char ticket[RUN_NAME_MAX];
    char reference[RUN_NAME_MAX]; /* "" without a measured run */
    struct quantity primary;
    int contexts[TICKET_CONTEXTS_MAX]; /* of the reference, ascending; the first if there are more */
    size_t n_contexts;
    bool more_contexts;
    struct ticket_run *runs;
    size_t n_runs, total; /* shown, and of the ticket */
    size_t n_measured, n_blocked, n_dates, n_nodes;
    struct notes notes;
};

int ticket_model_load(struct ticket_model *m, struct store *s, const char *ticket, struct err *err);
void ticket_model_release(struct ticket_model *m);
