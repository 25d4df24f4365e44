/* runrec: the local record of a run that was started or attached to, <folder of the store>/runs/<run
 * id>.json: its node, its bundle and what is left to do.
 *
 * Written before anything is pushed, and after every step that must not be repeated. Errors: ERR_STORAGE,
 * ERR_INPUT for a word that matches no run.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "harness/plan/job.h"
#include "harness/plan/overrides.h"

enum { RUNREC_REASON_MAX = 512 };

enum runrec_state { RUNREC_STARTING, RUNREC_RUNNING, RUNREC_PULLED, RUNREC_INGESTED, RUNREC_STATE_COUNT };

/* What was requested, kept until the node has the run, so that an interrupted start can be repeated. Refers
 * to the plan by name and copies nothing, as plans may contain secrets. Stored under the key "order". */
struct runrec_request {
    bool known;
    char plan[FS_PATH_MAX]; /* absolute */
    char plan_sha256[SHA256_HEX_LEN + 1];
    char source_sha256[SHA256_HEX_LEN + 1]; /* "" until known */
    struct overrides_record overrides;      /* date, tag and mode as used by the run */
};

struct runrec {
    char run_id[JOB_RUN_ID_MAX];
    char node[256];
    char ssh_config[FS_PATH_MAX]; /* absolute, or "" */
    char workdir[FS_PATH_MAX];
    char bundle[FS_PATH_MAX];     /* absolute; present or future location */
    char plan[FS_PATH_MAX];       /* the plan's file, for messages */
    char source_dir[FS_PATH_MAX]; /* absolute, of the sources that were sent; "" for none */
    char ticket[LIMIT_NAME + 1];
    char sweep[LIMIT_NAME + 1]; /* shared with the runs of other nodes (sweep.h); "" for a run of its own */
    char baseline[LIMIT_NAME + 1]; /* to compare with at the end; "" for none */
    double threshold;
    double connect_timeout_s, patience_s;
    enum run_purpose purpose;
    enum runrec_state state;
    char set_aside[RUNREC_REASON_MAX]; /* why nightly runs do not resume it; "": they do */
    struct runrec_request request;     /* only in state RUNREC_STARTING */
};

const char *runrec_state_name(enum runrec_state s);

/* db: the store's file, next to which the records are kept. */
int runrec_save(const struct runrec *r, const char *db, struct err *err);
/* A missing record is not an error. */
int runrec_remove(const struct runrec *r, const char *db, struct err *err);
/* word: a run id or a unique non-empty prefix of one, a bundle's folder, a ticket (its newest sweep), or
 * "latest" (the newest sweep). */
int runrec_find(struct runrec *r, const char *db, const char *word, struct err *err);
/* Finds the run only among those on this node and in this workdir; NULL: any. */
int runrec_find_at(struct runrec *r, const char *db, const char *word, const char *node, const char *workdir,
                   struct err *err);

/* Calls fn for every record, oldest first. */
int runrec_each(const char *db, int (*fn)(const struct runrec *, void *, struct err *), void *arg,
                struct err *err);

/* The newest run whose record names this plan, on this node (NULL: any). */
int runrec_newest(struct runrec *r, const char *db, const char *plan, const char *node, bool *found,
                  struct err *err);
/* The newest run that is not recorded as ended. */
int runrec_unfinished(struct runrec *r, const char *db, bool *found, struct err *err);
