/* attach: what the commands about a run that is on a node already share: finding it here or on --node, and
 * connecting to it, and saying how to come back to it.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_ON_NODE_H
#define KERNSWEEP_HARNESS_COMMANDS_ON_NODE_H

#include "harness/commands/cmd.h"

/* Words of the command line; NULL where absent. */
struct attach_args {
    const char *node, *workdir, *artifacts, *report, *fail_on, *baseline, *output;
    const struct session_view *view; /* who shows the run, or NULL */
};

void attach_options(const struct cmd_env *env, const struct attach_args *a, struct session_options *opt);

/* A record for a node of which nothing is known here but its name. */
int attach_record_of_node(struct cmd_env *env, const struct attach_args *a, struct runrec *rec,
                          struct err *err);

/* Connects to the run that word means: known here, or on --node. */
int attach_open(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                struct err *err);

/* Connects to the newest run on a node of which only the name need be known. */
int attach_open_newest(struct cmd_env *env, const struct attach_args *a, struct session *s, struct err *err);

/* To stderr: that the run goes on, how to follow and how to stop it. */
void attach_print_left(const struct session *s);

/* Gives a run that was started elsewhere its bundle's place and a record here. */
int attach_reserve(struct session *s, struct err *err);

#endif
