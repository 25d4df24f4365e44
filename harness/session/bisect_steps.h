/* bisect_steps: carries out the steps of a search (results/judge/search/bisect.h): builds commits of the
 * plan's source.dir on the node and measures them, alternating with the good end, in runs of the purpose
 * "bisect".
 *
 * The state is stored before and after every step, so an interrupted search resumes at the same step,
 * after completing a run that it left on the node. The node's cache keeps the builds. After ERR_NODE
 * (blocked), ERR_INTERRUPTED and the errors of turns.h, the next call resumes the search.
 */
#pragma once

#include "harness/session/bisect_state.h"

struct bisect_settings {
    struct session_options session; /* its purpose is set */
    double time_s;                  /* no step begins later than this; 0: no limit */
};

/* Continues until the search has its answer (b->ended_at is set) or the time is over. ERR_INPUT if the
 * plan has changed since the search began. */
int bisect_run(struct bisect_state *b, struct store *s, const struct bisect_settings *o, struct err *err);
