/* confirm: measures the suspects of a comparison again on the node, the base's build and this run's in turns
 * (A B B A), from the source trees that the node still has.
 *
 * The step between two judgements: suspects in, measured runs out. Of the judge it knows only the list of
 * suspects (results/judge/confirm.h), as that is what it is asked to measure; what the runs mean is for the
 * caller to find out. Errors: ERR_NODE when the node is gone or has lost a tree, else as measure.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_CONFIRM_H
#define KERNSWEEP_HARNESS_SESSION_CONFIRM_H

#include "harness/session/session.h"
#include "results/judge/confirm.h"
#include "results/store/store.h"

enum { CONFIRM_ROUNDS = 2 };

struct confirm_request {
    const char *plan;                     /* the file that the run was made from */
    const char *base_source, *now_source; /* SHA-256 of the trees; "" where a run had none */
    struct session_options opt;           /* of that run; tag and source are set here */
};

/* Store keys of the runs of each build, in the order they were made. */
struct confirm_runs {
    int64_t base[CONFIRM_ROUNDS], now[CONFIRM_ROUNDS];
};

int confirm_measure(const struct confirm_request *r, const struct suspect_list *suspects, struct store *s,
                    struct confirm_runs *out, struct err *err);

#endif
