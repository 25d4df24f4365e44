/* session: one run seen from this machine: start it on the node, follow its journal through lost connections,
 * pull the bundle. Everything after the start can be done by another session (`attach`).
 *
 * Drives transport, remote and live; knows nothing of the store's tables or of reports. The run never depends
 * on a session: losing one loses nothing. Errors: ERR_NODE (blocked; exit 3), ERR_INTERRUPTED (the run
 * continues on the node), ERR_STORAGE.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_SESSION_H
#define KERNSWEEP_HARNESS_SESSION_SESSION_H

#include "harness/plan/overrides.h"
#include "harness/session/live.h"
#include "harness/session/preflight.h"
#include "harness/session/remote.h"
#include "harness/session/runrec.h"

#include <signal.h>

/* Where a run is shown instead of in the progress stream. */
struct session_view {
    void *arg;
    void (*line)(void *arg, const char *line, size_t len); /* of the journal, decoded once already */
    void (*note)(void *arg, const char *text);             /* of the session itself */
};

/* Borrowed; NULL where absent. */
struct session_options {
    const char *db;
    const char *artifacts; /* folder that bundles go to */
    const char *ssh_config;
    struct overrides overrides; /* as overrides_apply() has applied them to the plan */
    bool repeatable;            /* a start that was cut short can be repeated from its record */
    const char *source_sha256;  /* a tree that the node still has, instead of the plan's own */
    const char *backend;        /* as --transport takes it (connect.h) */
    FILE *progress;             /* human words */
    const struct session_view *view;
    bool verbose;
    const volatile sig_atomic_t *interrupted;
};

struct session {
    struct session_options opt;
    struct transport *t;
    struct remote remote;
    struct runrec rec;
    struct live live;
    struct event_stream stream;
    struct preflight preflight; /* of session_start(); count 0 until the node has answered */
    bool offered;               /* the job was sent: the node may have the run, whatever the answer was */
    char run_status[32];        /* of the SUITE_END event, "" until then */
    char executor[FS_PATH_MAX];
    double stalled_s; /* monotonic time since which the run has been waiting for others, as far as this
                         session has seen; NaN: it is not */
    double stall_patience_s;
    char stall[EVENT_TEXT_MAX];
};

/* Connects, checks that the node is fit (see s->preflight), stages the sources and submits the job. On
 * success s->rec is saved and the run continues by itself. A record of what was asked for is written first,
 * and removed if the node never got the job. */
int session_start(struct session *s, const struct plan *p, const struct session_options *opt,
                  struct err *err);
/* Repeats a start that was interrupted before the node had the run; the session is attached. ERR_INPUT when
 * the plan or its sources have changed since. */
int session_start_again(struct session *s, struct err *err);
/* Connects to the node of a known run. */
int session_attach(struct session *s, const struct runrec *rec, const struct session_options *opt,
                   struct err *err);
/* Asks the connected node for its facts and judges them; model may be NULL. NULL with err when it does not
 * answer, else the caller json_decref()s. */
json_t *session_preflight(struct session *s, const char *model, int64_t largest_context,
                          struct preflight *out, struct err *err);
/* Shows the journal until the run is closed; reconnects, and restarts an executor that died. */
int session_follow(struct session *s, struct err *err);
/* Pulls the closed run's bundle to s->rec.bundle, which appears only once it is complete and verified. */
int session_collect(struct session *s, struct err *err);
void session_close(struct session *s);

/* The executor's binary that belongs to this command: $KERNSWEEP_EXECUTOR, beside it, or
 * ../libexec/kernsweep. out: char[FS_PATH_MAX]. */
int session_find_executor(char *out, struct err *err);

#endif
