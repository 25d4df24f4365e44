/* ssh_socket: a connected TCP socket, or the socket of a ProxyJump or ProxyCommand, by a deadline. Knows
 * nothing of SSH. Name resolution runs in a thread of its own, as getaddrinfo() knows no deadline; one that
 * hangs is left behind and cleans up after itself.
 */
#ifndef KERNSWEEP_HARNESS_SSH_SOCKET_H
#define KERNSWEEP_HARNESS_SSH_SOCKET_H

#include "common/base/err.h"
#include "harness/transport/io.h"

#include <stdbool.h>
#include <stdint.h>

/* The descriptor (non-blocking), or -1. Tries every address. *temporary: whether trying again may help. */
int ssh_socket_connect(const char *host, int port, int64_t deadline_ns, const struct transport_scope *scope,
                       bool *temporary, struct err *err);

/* Waits for events on fd. 1 when some came, 0 when the poll interval passed without one; -1 when the deadline
 * has passed (ERR_NODE: "<who>: timed out <doing>") or the user interrupted. */
int ssh_socket_wait(int fd, short events, int64_t deadline_ns, const struct transport_scope *scope,
                    const char *doing, struct err *err);

#endif
