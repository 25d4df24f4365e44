/* sweep: what one command started on several nodes: a file beside the store, <folder of the
 * store>/sweeps/<id>.json, that names the nodes in the plan's order and how each of them ended, also those
 * that were never reached and have no run. The runs themselves have records of their own (runrec.h), which
 * name the sweep.
 *
 * Strings are bounded copies. Errors: ERR_STORAGE, ERR_INPUT for a damaged file.
 */
#pragma once

#include "harness/plan/nodes.h"
#include "harness/session/runrec.h"

enum { SWEEP_REASON_MAX = 512 };

struct sweep_member {
    char node[256];
    bool ended; /* `code` is what the command for this node ended with */
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

/* A new sweep of the plan's nodes. */
void sweep_begin(struct sweep_record *w, const struct plan *p);
int sweep_save(const struct sweep_record *w, const char *db, struct err *err);

/* The sweep that word names: its id, a unique prefix of it that begins with "sweep-", or "latest", if the
 * newest run that was started from here belongs to one. *found: there is one. */
int sweep_find(struct sweep_record *w, const char *db, const char *word, bool *found, struct err *err);

/* The newest sweep of the plan (its file's resolved path) in which some node's newest run is not stored yet,
 * unless nightly runs leave that one aside. *found: there is one. */
int sweep_unfinished(struct sweep_record *w, const char *db, const char *plan, bool *found, struct err *err);

/* Calls fn for each run of the sweep that has a record here, oldest first. */
int sweep_each(const struct sweep_record *w, const char *db,
               int (*fn)(const struct runrec *, void *, struct err *), void *arg, struct err *err);
