/* several_nodes: runs a command on several nodes at once, each node's part in its own process
 * (session/several.h), and then shows the results side by side and returns the worst exit code. Used by
 * `run`, `nightly` and `attach`.
 *
 * Prints, as part of the command: the tables to stdout, or with --json one object.
 */
#pragma once

#include "harness/commands/base/finish.h"
#include "harness/session/several.h"
#include "harness/session/sweep.h"

/* One node's part. */
struct node_part {
    const char *node;
    const char *run_id; /* the run to follow; "": a new one */
    const char *sweep;
    struct relay *relay; /* its view displays the run; results are sent through it */
};

/* Runs in the process of the node. Returns an exit code, or -1 with err. */
typedef int node_part_fn(struct cmd_env *env, void *arg, const struct node_part *part, struct err *err);

struct several_nodes {
    struct cmd_env *env;
    struct sweep_record *sweep;
    char (*run_id)[JOB_RUN_ID_MAX]; /* of each member, "" to leave it out; NULL: new runs */
    node_part_fn *fn;
    void *arg;
    const char *report; /* its file, or NULL: in the folder of the day */
    bool detached;      /* the runs have only been started */
    bool reports;       /* write a side-by-side report */
    bool quiet;         /* print no tables */
};

/* Returns the exit code, or -1 with err. */
int several_nodes(struct several_nodes *n, struct err *err);

/* Calls finish_report() for a node's part and sends the result. part: NULL if only one run is shown. */
int node_part_finish(struct cmd_env *env, struct runrec *rec, const struct finish_options *fin,
                     struct finish *f, const struct node_part *part, struct err *err);
/* Sends the result of a node's run. Takes ownership of summary, which may be NULL. */
void node_part_result(const struct node_part *part, json_t *summary);
