/* several_nodes: a command on several nodes at once: each node's part in a process of its own
 * (session/several.h), then what they found side by side, and the worst of their exit codes. `run`, `nightly`
 * and `attach` share it.
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
    const char *run_id; /* of a run that is to be followed; "" for a new one */
    const char *sweep;
    struct relay *relay; /* its view shows the run; results go there */
};

/* In the process of the node: returns an exit code, or -1 with err. */
typedef int node_part_fn(struct cmd_env *env, void *arg, const struct node_part *part, struct err *err);

struct several_nodes {
    struct cmd_env *env;
    struct sweep_record *sweep;
    char (*run_id)[JOB_RUN_ID_MAX]; /* of each member; NULL: new runs. "" : that member is left alone */
    node_part_fn *fn;
    void *arg;
    const char *report; /* its file, or NULL: in the folder of the day */
    bool detached;      /* the runs have only been started */
    bool reports;       /* write them side by side */
    bool quiet;         /* no tables */
};

/* Returns the exit code, or -1 with err. */
int several_nodes(struct several_nodes *n, struct err *err);

/* finish_report() of a node's part, whose outcome it sends; part: NULL for a run that is shown alone. */
int node_part_finish(struct cmd_env *env, struct runrec *rec, const struct finish_options *fin,
                     struct finish *f, const struct node_part *part, struct err *err);
/* Sends the outcome of a node's run. Takes summary, which may be NULL. */
void node_part_result(const struct node_part *part, json_t *summary);
