/* ssh_session: a libssh2 session: socket, handshake, host key check, waiting and errors.
 *
 * libssh2 is always non-blocking here: each call is repeated with the same arguments while it returns EAGAIN,
 * with ssh_session_wait() in between. For logging in see ssh_auth.
 */
#pragma once

#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"
#include "harness/transport/backend.h"

#include <libssh2.h>
#include <stdint.h>
#include <sys/types.h>

enum { SSH_INBOX_SIZE = 256 << 10 };

/* Bytes received on a session's socket that libssh2 has not taken yet; on its own, libssh2 would read only 16
 * KiB at a time. libssh2 waits only when the inbox is empty, so poll() on the socket misses nothing. */
struct ssh_inbox {
    size_t at, len; /* libssh2 has not taken bytes[at] to bytes[len - 1] */
    bool ended;     /* libssh2 wanted more, but the connection is closed or broken */
    char bytes[SSH_INBOX_SIZE];
};

struct ssh_session {
    LIBSSH2_SESSION *ssh;
    struct ssh_inbox *inbox; /* freed after ssh */
    int fd;
    pid_t proxy; /* ProxyJump or ProxyCommand, or 0 */
    const struct ssh_config *config;
    const struct transport_scope *scope;
    int64_t deadline_ns; /* of the current step */
    struct known_hosts known;
    bool known_plainly; /* under the host's name without its port */
};

void ssh_session_init(struct ssh_session *s, const struct ssh_config *config,
                      const struct transport_scope *scope);

/* Connects and does the handshake by s->deadline_ns, without checking the host key. */
int ssh_session_open(struct ssh_session *s, enum transport_failure *why, struct err *err);
/* Fails if the host key is not known. Always sets fingerprint: char[FINGERPRINT_LEN + 1]. */
int ssh_session_verify_host(struct ssh_session *s, char *fingerprint, enum transport_failure *why,
                            struct err *err);
/* The key that the host presented. */
const char *ssh_session_hostkey(const struct ssh_session *s, size_t *len);

/* Closes everything immediately, without notifying the node. */
void ssh_session_drop(struct ssh_session *s);

/* After EAGAIN: waits until libssh2 can continue. -1 past the deadline or when interrupted. */
int ssh_session_wait(struct ssh_session *s, const char *doing, struct err *err);
/* Sets ERR_NODE with libssh2's message. Returns -1. */
int ssh_session_fail(const struct ssh_session *s, int rc, const char *doing, struct err *err);

/* Whether this libssh2 supports rsa-sha2 signatures. */
bool ssh_session_has_rsa_sha2(void);
