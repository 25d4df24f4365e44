/* session: controls one run from this machine: starts it on the node, follows its journal across
 * reconnects, and pulls the bundle. After the start, another session can take over (`attach`).
 *
 * Uses transport, remote and live. A run never depends on a session: it continues when the session ends.
 * Errors: ERR_NODE (blocked; exit 3), ERR_INTERRUPTED (the run continues on the node), ERR_STORAGE.
 */
#pragma once

#include "harness/plan/changed_tests.h"
#include "harness/plan/overrides.h"
#include "harness/session/live.h"
#include "harness/session/preflight.h"
#include "harness/session/remote.h"
#include "harness/session/runrec.h"
#include "harness/session/watchdog.h"

#include <jansson.h>
#include <signal.h>

/* Receives the run's output instead of the progress stream. */
struct session_view {
    void *arg;
    void (*line)(void *arg, const char *line, size_t len); /* a valid journal line */
    void (*note)(void *arg, const char *text);             /* a message of the session */
};

/* Pointers are borrowed; NULL where absent. */
struct session_options {
    const char *db;
    const char *artifacts; /* folder for bundles */
    const char *ssh_config;
    struct overrides overrides; /* already applied to the plan by overrides_apply() */
    enum run_purpose purpose;
    const char *sweep; /* shared with the runs of other nodes (sweep.h) */
    /* Of a sweep that measures what changed (overrides): fills in the cells that need not be measured if they
     * did not change. The session frees their array. */
    int (*find_changed)(const void *arg, const struct plan *p, struct changed_hints *out, struct err *err);
    const void *find_changed_arg;
    bool counters;             /* count what the plan's "counters" name, after the tests */
    bool build_only;           /* no tests: build the variants and look at their gates */
    bool compile_only;         /* with build_only: no gates either, and no GPU is used */
    bool needs_commands;       /* a test whose command cannot be found ends session_follow() with ERR_INPUT */
    size_t gpus_at_once;       /* least number of GPUs for the placement "every"; 0: any */
    bool repeatable;           /* an interrupted start can be repeated from its record */
    const char *source_sha256; /* use this tree, still on the node, instead of the plan's */
    bool exported;             /* source.dir has a commit's files, as git_tree_export() left them */
    json_t *git;               /* what git knows of the sources, if the caller knows it (git/revision.h) */
    const char *backend;       /* an argument of --transport (connect.h) */
    FILE *progress;            /* messages for the user */
    const struct session_view *view;
    const volatile sig_atomic_t *interrupted;
};

struct session {
    struct session_options opt;
    struct transport *t;
    struct remote remote;
    struct runrec rec;
    struct live live;
    struct event_stream stream;
    struct watchdog watchdog;   /* watches the executor of the run that is followed */
    double heard_s;             /* monotonic time of the last complete line */
    struct restarts restarts;   /* of the executor, by this session */
    int64_t seq;                /* of the last event read; 0: none in this reading */
    int readings;               /* times the journal was read from its start, because the node lost its end */
    int64_t gap_from, gap_to;   /* events that followed each other when the journal was last misread */
    size_t passed_over;         /* lines of this reading that are no events */
    bool odd_told;              /* the note about the first of them was given */
    bool misread;               /* what was last read does not continue the earlier journal */
    struct preflight preflight; /* set by session_start(); count is 0 until the node has answered */
    json_t *gpu_groups;         /* owned; for the placement "every", once the node has answered */
    bool offered;               /* the job was sent, so the node may have the run even if the call failed */
    bool hopeless;       /* trying again would fail in the same way: the node answers, but not with a run that
                            can be brought here */
    char run_status[32]; /* of the SUITE_END event, "" until then */
    char executor[FS_PATH_MAX];
    double stalled_s; /* monotonic time since when, as seen by this session, the run has been waiting for
                         something external; NaN: it is not waiting */
    double stall_patience_s;
    char stall[EVENT_TEXT_MAX];
};

/* Connects, checks that the node is fit (see s->preflight), stages the sources and submits the job. On
 * success s->rec is saved and the run continues without us. A record of the request is written first, and
 * removed if the job was never sent. */
int session_start(struct session *s, const struct plan *p, const struct session_options *opt,
                  struct err *err);
/* Repeats a start that was interrupted before the node had the run; the session must be attached. ERR_INPUT
 * when the plan or its sources have changed since. */
int session_start_again(struct session *s, struct err *err);
/* Connects to the node of a known run. */
int session_attach(struct session *s, const struct runrec *rec, const struct session_options *opt,
                   struct err *err);
/* Queries the facts of the connected node and judges them for the plan, which may be empty. Returns the
 * facts, which the caller json_decref()s, or NULL with err. */
json_t *session_preflight(struct session *s, const struct plan *p, struct preflight *out, struct err *err);
/* Shows the journal until the run has ended; reconnects, and restarts an executor that died. */
int session_follow(struct session *s, struct err *err);
/* Pulls the bundle of an ended run to s->rec.bundle; it is moved there only once complete and verified. */
int session_collect(struct session *s, struct err *err);
/* Removes the ended run from the node, if it answers: for results that are not kept. */
void session_forget(struct session *s);
void session_close(struct session *s);

enum { SESSION_LEFT_MAX = 400 };

/* Whether the run may go on without us after this error. */
bool session_is_left(const struct session *s, const struct err *err);
/* Says so in one line, and how to follow or cancel the run. */
void session_describe_left(const struct session *s, char out[SESSION_LEFT_MAX]);

/* Finds the executor's binary: $KERNSWEEP_EXECUTOR, else in this command's folder, else in
 * ../libexec/kernsweep. out: char[FS_PATH_MAX]. */
int session_find_executor(char *out, struct err *err);
