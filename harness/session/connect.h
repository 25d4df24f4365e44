/* connect: the ways to reach a node, and the choice among them.
 *
 * transports.def is the only list of transport back-ends; a new one needs a line there and a file of its
 * own.
 */
#pragma once

#include "harness/transport/transport.h"

/* Checks an argument of --transport: "auto" or the name of a back-end. */
int connect_check(const char *kind, struct err *err);
/* Sets target->backends for its node. kind: as for connect_check(), or NULL for "auto", which selects all
 * back-ends that serve the node, best first. ERR_INPUT for one that cannot serve it ("local" for another
 * machine, ssh for this one). */
int connect_choose(const char *kind, struct transport_target *target, struct err *err);
/* "auto, local, libssh2 or openssh" */
void connect_list(char *out, size_t size);
