/* confirm_run: measures the suspects of a comparison again, in turns: base's build, now's, now's, base's (A B
 * B A), on the node that the run was made on, and lets results/judge/confirm.h judge. The trees of both are
 * still in the node's cache.
 *
 * A finish_confirm (finish.h). Errors: ERR_NODE when the node is gone or has lost a tree: nothing is decided
 * then.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_CONFIRM_RUN_H
#define KERNSWEEP_HARNESS_COMMANDS_CONFIRM_RUN_H

#include "harness/commands/finish.h"

struct confirm_run {
    const char *plan;           /* the file that the run was made from */
    struct session_options opt; /* of that run; tag and sources are set here */
};

int confirm_run(void *arg, struct store *s, const struct run_data *now, const struct against *against,
                struct comparison *c, struct err *err);

#endif
