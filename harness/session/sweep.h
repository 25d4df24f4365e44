/* sweep: what one command started on several nodes: a file beside the store, <folder of the
 * store>/sweeps/<id>.json, that names the nodes in the plan's order and how each of them ended, including
 * those that were never reached and have no run. The runs have records of their own (runrec.h), which name
 * the sweep.
 *
 * Strings are bounded copies. Errors: ERR_STORAGE, ERR_INPUT for a damaged file.
 */
#pragma once

#include "harness/plan/nodes.h"
#include "harness/session/runrec.h"

enum { SWEEP_REASON_MAX = 512 };

struct sweep_member {
    char node[256];
    bool ended; /* `code` is the exit code of this node's command */
    int code;
    char failure[SWEEP_REASON_MAX]; /* why there is no result, or "" */
};

struct sweep_record {
    char id[LIMIT_NAME + 1];
    char plan[FS_PATH_MAX];
    char ticket[LIMIT_NAME + 1];
    char report[FS_PATH_MAX]; /* the side-by-side report; "" until it is written */
    struct sweep_member member[PLAN_NODES_MAX];
    size_t count;
};

/* Initializes a new sweep of the plan's nodes. */
void sweep_begin(struct sweep_record *w, const struct plan *p);
int sweep_save(const struct sweep_record *w, const char *db, struct err *err);

/* The sweep that word names: its id, a unique prefix of it that begins with "sweep-", or, if the newest
 * run that it names was part of a sweep, "latest" or a ticket. *found: whether there is one. */
int sweep_find(struct sweep_record *w, const char *db, const char *word, bool *found, struct err *err);

/* The newest sweep of the plan (the resolved path of its file) in which some node's newest run is neither
 * stored yet nor set aside. *found: whether there is one. */
int sweep_unfinished(struct sweep_record *w, const char *db, const char *plan, bool *found, struct err *err);

/* Calls fn for each run of the sweep that has a record here, oldest first. */
int sweep_each(const struct sweep_record *w, const char *db,
               int (*fn)(const struct runrec *, void *, struct err *), void *arg, struct err *err);
