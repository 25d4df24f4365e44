/* sweep_output: what a sweep of several nodes writes and prints: a side-by-side report next to the bundles,
 * the tables, and a JSON object. Needs no connection.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/sweep.h"
#include "reports/sweep_report.h"

struct sweep_output {
    struct cmd_env *env;
    struct sweep_record *sweep; /* its report is set by sweep_output_report() */
    const json_t *nodes;        /* one object per member with the outcome of its run */
    const char *report;         /* file of the report, or NULL: <artifacts>/<date>/<sweep>.md */
    bool quiet;                 /* print no tables */
    int code;
};

/* Writes the report as Markdown and HTML if any node has results. */
int sweep_output_report(struct sweep_output *o, struct err *err);
/* Prints the tables and paths of the results, or with --json one object. started: the runs have only
 * begun. */
void sweep_output_print(const struct sweep_output *o, bool started);

/* Fills in the nodes of a request. out: struct sweep_node[PLAN_NODES_MAX], which borrows from w. */
void sweep_output_nodes(const struct sweep_record *w, struct sweep_node *out, struct sweep_request *req);
