/* confirm: re-measures the suspects of a comparison on the node in rounds, each of which alternates the
 * builds of the base and of this run (A B B A), from the source trees that the node still has.
 *
 * Takes the list of suspects (results/judge/confirm.h) and returns the runs; judging them, and whether
 * another round is worth it, is up to the caller. Errors: ERR_NODE when the node is unreachable or no longer
 * has a tree, otherwise as in measure.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_CONFIRM_H
#define KERNSWEEP_HARNESS_SESSION_CONFIRM_H

#include "harness/session/session.h"
#include "results/judge/confirm.h"
#include "results/store/store.h"

enum {
    CONFIRM_TURNS = 2, /* runs of each build in one round, A B B A */
    CONFIRM_RUNS_MAX = CONFIRM_TURNS * CONFIRM_ROUNDS_MAX,
};

struct confirm_request {
    const char *plan;                     /* the plan's file */
    const char *base_source, *now_source; /* SHA-256 of the source trees; "" for a run without one */
    struct session_options opt;           /* of this run; confirm_measure() sets purpose and source */
};

/* Store keys of the runs of each build, in the order of measurement. */
struct confirm_runs {
    int64_t base[CONFIRM_RUNS_MAX], now[CONFIRM_RUNS_MAX];
    size_t count; /* of each */
};

/* Measures one more round of these suspects and adds its runs to out, all or none. */
int confirm_measure(const struct confirm_request *r, const struct suspect_list *suspects, struct store *s,
                    struct confirm_runs *out, struct err *err);

#endif
