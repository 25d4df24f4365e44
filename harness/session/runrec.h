/* runrec: the record that this machine keeps of a run that it started or attached to, so that any later
 * command finds the node, the bundle and what is still to be done: <folder of the store>/runs/<run id>.json.
 *
 * Written before anything is pushed, and again at each step that must not be repeated. Errors: ERR_STORAGE,
 * ERR_INPUT for a word that matches no run.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_RUNREC_H
#define KERNSWEEP_HARNESS_SESSION_RUNREC_H

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "harness/plan/job.h"
#include "harness/plan/overrides.h"

enum runrec_state { RUNREC_STARTING, RUNREC_RUNNING, RUNREC_PULLED, RUNREC_INGESTED, RUNREC_STATE_COUNT };

/* What the user asked for, kept until the node has the run, so that a start that was interrupted can be
 * repeated. It names the plan and copies nothing from it, as plans hold secrets. In the file it is called
 * "order". */
struct runrec_request {
    bool known;
    char plan[FS_PATH_MAX]; /* absolute */
    char plan_sha256[SHA256_HEX_LEN + 1];
    char source_sha256[SHA256_HEX_LEN + 1]; /* "" until it is known */
    struct overrides_record overrides;      /* date, tag and mode are those of the run */
};

struct runrec {
    char run_id[JOB_RUN_ID_MAX];
    char node[256];
    char ssh_config[FS_PATH_MAX]; /* absolute, or "" */
    char workdir[FS_PATH_MAX];
    char bundle[FS_PATH_MAX]; /* absolute; where the bundle is or will be */
    char plan[FS_PATH_MAX];   /* the plan's file, for messages */
    char ticket[LIMIT_NAME + 1];
    char baseline[LIMIT_NAME + 1]; /* to compare with at the end, or "" */
    double threshold;
    double connect_timeout_s, patience_s;
    enum runrec_state state;
    struct runrec_request request; /* of RUNREC_STARTING */
};

const char *runrec_state_name(enum runrec_state s);

/* db: the store's file; records live beside it. */
int runrec_save(const struct runrec *r, const char *db, struct err *err);
/* Fine when there is none. */
int runrec_remove(const struct runrec *r, const char *db, struct err *err);
/* word: a run id, a unique prefix (not empty), a bundle's folder, or "latest". */
int runrec_find(struct runrec *r, const char *db, const char *word, struct err *err);

/* Calls fn for every record, oldest first. */
int runrec_each(const char *db, int (*fn)(const struct runrec *, void *, struct err *), void *arg,
                struct err *err);

/* The newest run of a plan, by the name that its records have. *found says whether there is one. */
int runrec_newest(struct runrec *r, const char *db, const char *plan, bool *found, struct err *err);

#endif
