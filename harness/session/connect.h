/* connect: the ways to reach a node, and which of them are tried for one node.
 *
 * transports.def is the only place that lists the back-ends of the transport; a new one is a line there and
 * its own file.
 */
#pragma once

#include "harness/transport/transport.h"

/* Checks an argument of --transport: "auto" or the name of a back-end. */
int connect_check(const char *kind, struct err *err);
/* Sets target->backends for its node. kind: as for connect_check(); NULL is "auto": all that serve the node,
 * best first. ERR_INPUT for one that does not: "local" for another machine, ssh for this one. */
int connect_choose(const char *kind, struct transport_target *target, struct err *err);
/* "auto, local, libssh2 or openssh" */
void connect_list(char *out, size_t size);
