/* remote: the executor on the node, command by command, through a transport: install it, stage a source tree,
 * submit, follow, pack, cancel.
 *
 * Knows the node's folders and the executor's command line (executor/main.c), nothing of plans or stores. A
 * struct remote borrows the transport. Every step has a deadline or a stall limit. Errors: ERR_NODE; one that
 * sets link_lost may be tried again after transport_reconnect().
 */
#ifndef KERNSWEEP_HARNESS_SESSION_REMOTE_H
#define KERNSWEEP_HARNESS_SESSION_REMOTE_H

#include "common/base/buf.h"
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
    bool link_lost;             /* why the last call failed */
};

/* local: the executor's binary on this machine. Its hash decides the path on the node. */
int remote_init(struct remote *r, struct transport *t, const char *workdir, const char *local,
                struct err *err);

/* Says hello, checks that the node can run the executor, and pushes it unless it is there. */
int remote_install(struct remote *r, const char *local, struct err *err);

/* Whether src/<sha256> is on the node. */
int remote_has(struct remote *r, const char *sha256, bool *have, struct err *err);

/* Makes src/<sha256> on the node from the tree, unless it is there. *pushed: bytes sent, 0 when it was. */
int remote_stage(struct remote *r, const struct tar_tree *tree, const char *sha256, uint64_t *pushed,
                 struct err *err);

/* Runs one executor command whose answer is JSON; NULL on error, else the caller json_decref()s. args:
 * NULL-terminated, after --workdir. input may be NULL. */
json_t *remote_call(struct remote *r, const char *command, const char *const *args, const void *input,
                    size_t input_len, double deadline_s, struct err *err);

/* Streams the journal from offset into fn. *alive is false when the run is unfinished and nobody runs it. */
int remote_follow(struct remote *r, const char *run_id, int64_t offset, transport_write_fn *fn, void *arg,
                  bool *alive, struct err *err);

/* Starts the supervisor of a known run again; it goes on at the first test without an artifact. */
int remote_resume(struct remote *r, const char *run_id, struct err *err);

/* Pulls the run's folder into dir, which must not exist or be empty. */
int remote_pack(struct remote *r, const char *run_id, const char *dir, struct err *err);

#endif
