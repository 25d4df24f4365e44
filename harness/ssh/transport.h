/* ssh_transport: the libssh2 back-end, built from ssh_session, ssh_auth and ssh_channel. */
#pragma once

struct transport_ops;
extern const struct transport_ops ssh_transport_ops;
