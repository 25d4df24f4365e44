/* remote: runs the executor's commands on the node through a transport: install, stage a source tree,
 * submit, follow, pack, cancel.
 *
 * Knows the node's folders and the executor's command line (executor/main.c). Borrows the transport. Every
 * step has a deadline or a stall limit. Errors: ERR_NODE; a call that sets link_lost may be retried after
 * transport_reconnect().
 */
#pragma once

#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "harness/transport/tarstream.h"
#include "harness/transport/transport.h"

#include <jansson.h>

enum { REMOTE_MAX_JSON = 16 << 20 };

struct remote {
    struct transport *t;
    char workdir[FS_PATH_MAX];  /* on the node, relative to the user's home or absolute */
    char executor[FS_PATH_MAX]; /* on the node */
    char executor_sha256[SHA256_HEX_LEN + 1];
    bool link_lost;  /* the last call failed because the connection was lost */
    bool no_program; /* or because the program could not be started */
};

/* local: the executor's binary on this machine, whose hash is part of the path on the node. */
int remote_init(struct remote *r, struct transport *t, const char *workdir, const char *local,
                struct err *err);

/* Checks that the node can run the executor, and pushes it unless it is present. */
int remote_install(struct remote *r, const char *local, struct err *err);

/* Whether src/<sha256> is on the node. */
int remote_has(struct remote *r, const char *sha256, bool *have, struct err *err);

/* Pushes the tree to src/<sha256> unless it is present. *pushed: bytes sent, 0 if it was present. */
int remote_stage(struct remote *r, const struct tar_tree *tree, const char *sha256, uint64_t *pushed,
                 struct err *err);

/* Runs an executor command that answers with JSON, which the caller json_decref()s; NULL with err. args:
 * NULL-terminated, appended after --workdir. input may be NULL. */
json_t *remote_call(struct remote *r, const char *command, const char *const *args, const void *input,
                    size_t input_len, double deadline_s, struct err *err);

/* The run run_id, or for NULL all runs, as the executor reports them: an array that the caller
 * json_decref()s, NULL with err. A run with a local record may be missing, if its start was interrupted
 * before it was submitted, or if its folder was deleted. */
json_t *remote_runs(struct remote *r, const char *run_id, struct err *err);
int remote_has_run(struct remote *r, const char *run_id, bool *has, struct err *err);

/* The last line of the run's executor.log, printable; "" if it cannot be read. */
void remote_last_words(struct remote *r, const char *run_id, char *out, size_t cap);

/* Streams the journal from offset to fn. *alive is false when the run is unfinished and its executor is gone.
 */
int remote_follow(struct remote *r, const char *run_id, int64_t offset, transport_write_fn *fn, void *arg,
                  bool *alive, struct err *err);

/* Restarts the supervisor of a run; it resumes at the first test without an artifact. */
int remote_resume(struct remote *r, const char *run_id, struct err *err);

/* Receives the run's folder, continuing where the extractor is, so it can be called again after link_lost. */
int remote_pack(struct remote *r, const char *run_id, struct tar_extractor *x, struct err *err);
/* Pulls the folder of a run that may be live into dir, which must be empty or not exist. */
int remote_pull(struct remote *r, const char *run_id, const char *dir, struct err *err);
