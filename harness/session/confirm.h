/* confirm: re-measures the suspects of a comparison in turns (turns.h): the build of the base and that of
 * this run, from the source trees that the node still has.
 *
 * Takes the list of suspects (results/judge/confirm.h) and returns the runs; judging them, and whether
 * another round is worth it, is up to the caller. Errors: ERR_NODE when the node is unreachable or no longer
 * has a tree, otherwise as in measure.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_CONFIRM_H
#define KERNSWEEP_HARNESS_SESSION_CONFIRM_H

#include "harness/session/turns.h"

struct confirm_request {
    const char *plan;                     /* the plan's file */
    const char *base_source, *now_source; /* SHA-256 of the source trees; "" for a run without one */
    struct session_options opt;           /* of this run; confirm_measure() sets purpose and source */
};

/* Measures one more round of these suspects and adds its runs to out, all or none. */
int confirm_measure(const struct confirm_request *r, const struct suspect_list *suspects, struct store *s,
                    struct turns_made *out, struct err *err);

#endif
