/* transport: runs a command on a node and streams its input and output, over any back-end.
 *
 * A struct transport owns its connection and child processes. One command runs at a time, and callbacks must
 * not use the same transport. Seconds are monotonic.
 *
 * Errors: ERR_NODE (names user@host:port and a remedy) when the node is unreachable or not trusted;
 * ERR_INTERRUPTED when the user interrupted a wait; errors of callbacks are passed on. A failed remote
 * command is not an error: see struct transport_result.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct transport_ops; /* a back-end, see backend.h */

enum { TRANSPORT_BACKENDS_MAX = 8, TRANSPORT_CONNECT_TIMEOUT_S = 10 };

/* Strings are copied by transport_open(). */
struct transport_target {
    const char *node;       /* "local", an ssh alias, or [user@]host[:port] ([v6]:port) */
    const char *ssh_config; /* argument of ssh -F, or NULL */
    /* The back-ends to use: the first available one, then the next one if that cannot serve the node. */
    const struct transport_ops *backends[TRANSPORT_BACKENDS_MAX];
    double connect_timeout_s; /* one attempt: resolve, connect, handshake, authenticate; 0 means
                                 TRANSPORT_CONNECT_TIMEOUT_S */
    double patience_s; /* how long connection failures are retried (backoff, jitter); 0 means one attempt.
                          A refused host key or login is never retried. */
    void (*notice)(void *arg,
                   const char *line); /* shows a line to the user ("... retrying in 2 s"); may be NULL */
    void *notice_arg;
    const volatile sig_atomic_t *interrupted; /* non-zero ends every wait; may be NULL */
};

/* Fills buf with up to cap bytes. Returns the count, 0 at the end, or -1 with err. */
typedef ssize_t transport_read_fn(void *arg, void *buf, size_t cap, struct err *err);
/* Consumes all of data. 0, or -1 with err to abandon the command. */
typedef int transport_write_fn(void *arg, const char *data, size_t len, struct err *err);

struct transport_cmd {
    const char *const *argv; /* NULL-terminated; words arrive unchanged. Runs in the home folder. */
    const void *input;       /* standard input, as bytes ... */
    size_t input_len;
    transport_read_fn *read; /* ... or read on demand; empty without either */
    void *read_arg;
    transport_write_fn *on_stdout; /* NULL: discarded */
    void *on_stdout_arg;
    transport_write_fn *on_stderr; /* NULL: the last TRANSPORT_STDERR_MAX bytes are kept in the result */
    void *on_stderr_arg;
    double deadline_s; /* for the whole command; 0: none */
    double stall_s;    /* longest silence (no byte in either direction) on a link believed alive; 0: none */
    uint64_t least_bytes; /* that must move in each stall_s: a link that trickles is as good as lost */
};

enum { TRANSPORT_STDERR_MAX = 4096, TRANSPORT_SIGNAL_MAX = 16, TRANSPORT_COMMAND_MAX = 32 << 10 };

struct transport_result {
    bool exited; /* exit_code is valid; otherwise `signal` names the signal ("KILL"), or is empty */
    int exit_code;
    char signal[TRANSPORT_SIGNAL_MAX];
    bool link_lost; /* the call failed because the connection did (also by stall): transport_reconnect() may
                       help */
    bool timed_out; /* the call failed because deadline_s passed; the connection is still usable */
    uint64_t bytes_sent, bytes_received;
    char stderr_text[TRANSPORT_STDERR_MAX + 1]; /* raw bytes: escape with text_printable() before showing */
    size_t stderr_len;
};

struct transport;

int transport_open(struct transport **out, const struct transport_target *target, struct err *err);
/* t may be NULL. Never blocks on a dead link. */
void transport_close(struct transport *t);
/* Drops the connection and connects again, with the target's timeout and patience. */
int transport_reconnect(struct transport *t, struct err *err);

/* Runs cmd to completion. 0 when its status is known (in res), else -1 with err. res is always filled. An
 * abandoned command (deadline, callback, interrupt) may continue to run on the node. */
int transport_exec(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                   struct err *err);

/* transport_exec() of argv with at most out->max bytes of its standard output appended to out. */
int transport_capture(struct transport *t, const char *const *argv, double deadline_s, struct buf *out,
                      struct transport_result *res, struct err *err);

/* Fails with ERR_NODE unless the exit code is 0; the message quotes the end of stderr. */
int transport_expect_success(const struct transport *t, const struct transport_result *res, const char *what,
                             struct err *err);

/* transport_read_fn over a file descriptor; arg: int *. */
ssize_t transport_read_fd(void *arg, void *buf, size_t cap, struct err *err);

const char *transport_describe(const struct transport *t);     /* "user@host:port", or "local" */
const char *transport_backend_name(const struct transport *t); /* "local", "libssh2", "openssh" */
const char *transport_fingerprint(const struct transport *t);  /* "SHA256:..." of the host key, or "" */
