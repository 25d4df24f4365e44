/* on_node: what commands for a run that is already on a node share: finding it, in the local records or on
 * --node, connecting to it, and printing how to return to it.
 */
#pragma once

#include "harness/commands/base/cmd.h"

/* Words of the command line; NULL where absent. */
struct attach_args {
    const char *node, *workdir, *artifacts, *report, *fail_on, *baseline, *output;
    const struct session_view *view; /* displays the run, or NULL */
};

void attach_options(const struct cmd_env *env, const struct attach_args *a, struct session_options *opt);

/* Finds the record of the run that word identifies; with --node, only among runs on that node. */
int attach_find_record(struct cmd_env *env, const struct attach_args *a, const char *word, struct runrec *rec,
                       struct err *err);

/* Makes a record for a node of which only the name is known. */
int attach_record_of_node(struct cmd_env *env, const struct attach_args *a, struct runrec *rec,
                          struct err *err);

/* Connects to the run that word identifies, in the local records or on --node; NULL: the newest on
 * a->node. */
int attach_open(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                struct err *err);

/* The options of all these commands. path: of the struct attach_args in type, such as "at.", or nothing. */
#define ATTACH_OPTIONS(type, path)                                                                           \
    {"--node", "NODE", ARG_AT(type, path node), "node of a run that was started on another machine"},        \
    {                                                                                                        \
        "--workdir", "DIR", ARG_AT(type, path workdir),                                                      \
            "kernsweep's folder on that node (default .kernsweep)"                                           \
    }

/* Prints to stderr that the run continues and how to follow or cancel it. */
void attach_print_left(const struct session *s);

/* Reserves a bundle folder and writes a local record for a run that was started on another machine. */
int attach_reserve(struct session *s, struct err *err);
