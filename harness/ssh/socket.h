/* ssh_socket: connects a TCP socket, and waits on sockets, with a deadline. Name resolution runs in a
 * separate thread, as getaddrinfo() has no deadline; a thread that hangs is abandoned and cleans up after
 * itself.
 */
#pragma once

#include "common/base/err.h"
#include "harness/transport/io.h"

#include <stdbool.h>
#include <stdint.h>

/* Tries every address. Returns a non-blocking descriptor, or -1. *temporary: whether a retry may help. */
int ssh_socket_connect(const char *host, int port, int family, int64_t deadline_ns,
                       const struct transport_scope *scope, bool *temporary, struct err *err);

/* Acknowledges received packets at once; call it before waiting. Until its first command starts, sshd delays
 * a small packet while the previous one is unacknowledged, and the kernel may delay that acknowledgement by
 * 40 ms. */
void ssh_socket_acknowledge(int fd);

/* Waits for events on fd: 1 when one occurred, 0 when the poll interval passed without one, -1 when the
 * deadline has passed (ERR_NODE: "<who>: timed out while <doing>") or the user interrupted. */
int ssh_socket_wait(int fd, short events, int64_t deadline_ns, const struct transport_scope *scope,
                    const char *doing, struct err *err);
