/* plan_nodes: the nodes that a plan names under "nodes", to be measured at the same time. A plan names one
 * node ("node") or several ("nodes"), never both; harness/session/several.h runs them.
 *
 * Strings are borrowed from the plan's JSON.
 */
#pragma once

#include "common/base/json.h"

#include <stddef.h>

enum { PLAN_NODES_MAX = 64 };

struct plan_nodes {
    const char *name[PLAN_NODES_MAX]; /* in the order of the plan */
    size_t count;                     /* 0: the plan has no "nodes" */
};

/* root: the plan. scheduled: its tests run through a scheduler, which chooses the machines. */
int plan_nodes_read(struct plan_nodes *n, const struct json_at *root, bool scheduled, struct err *err);
