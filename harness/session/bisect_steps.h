/* bisect_steps: carries out the steps of a search (results/judge/search/bisect.h): builds commits of the
 * plan's source.dir on the node and measures them in turns with the good end, in runs of the purpose
 * "bisect".
 *
 * The state is stored before and after every step, so a search that was interrupted goes on with the step
 * that it was at; a run that it left on the node is completed first. Builds are kept by the node's cache.
 * Errors: ERR_NODE (blocked), ERR_INTERRUPTED, and those of turns.h; the search then goes on at the next
 * call.
 */
#pragma once

#include "harness/session/bisect_state.h"

struct bisect_settings {
    struct session_options session; /* its purpose is set */
    double time_s;                  /* no step begins later than this; 0: no limit */
};

/* Goes on until the search has its answer (b->ended_at is then set) or the time is over. ERR_INPUT if the
 * plan has changed since the search began. */
int bisect_run(struct bisect_state *b, struct store *s, const struct bisect_settings *o, struct err *err);
