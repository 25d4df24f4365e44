/* ssh_session: one libssh2 session: socket, handshake, host key, and how to wait and fail on it.
 *
 * libssh2 is always non-blocking here: each of its calls is repeated with the same arguments while it returns
 * EAGAIN, with ssh_session_wait() in between. Knows nothing of commands; logging in is ssh_auth.
 */
#ifndef KERNSWEEP_HARNESS_SSH_SESSION_H
#define KERNSWEEP_HARNESS_SSH_SESSION_H

#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"
#include "harness/transport/backend.h"

#include <libssh2.h>
#include <stdint.h>
#include <sys/types.h>

struct ssh_session {
    LIBSSH2_SESSION *ssh;
    int fd;
    pid_t proxy; /* ProxyJump or ProxyCommand, or 0 */
    const struct ssh_config *config;
    const struct transport_scope *scope;
    int64_t deadline_ns; /* of the step under way */
    struct known_hosts known;
};

void ssh_session_init(struct ssh_session *s, const struct ssh_config *config,
                      const struct transport_scope *scope);

/* Connects and shakes hands by s->deadline_ns; the host key is not judged yet. */
int ssh_session_open(struct ssh_session *s, enum transport_failure *why, struct err *err);
/* Refuses a host whose key is not known. Fills fingerprint (char[FINGERPRINT_LEN + 1]) either way. */
int ssh_session_verify_host(struct ssh_session *s, char *fingerprint, enum transport_failure *why,
                            struct err *err);
/* The key that the host presented. */
const char *ssh_session_hostkey(const struct ssh_session *s, size_t *len);

/* Drops everything at once, without a word to the node. */
void ssh_session_drop(struct ssh_session *s);

/* After EAGAIN: waits until libssh2 can go on. -1 past the deadline or when interrupted. */
int ssh_session_wait(struct ssh_session *s, const char *doing, struct err *err);
/* ERR_NODE with libssh2's words. Returns -1. */
int ssh_session_fail(const struct ssh_session *s, int rc, const char *doing, struct err *err);

/* "libssh2 1.10.0 cannot use RSA keys" and the like: whether this build does rsa-sha2. */
bool ssh_session_has_rsa_sha2(void);

#endif
