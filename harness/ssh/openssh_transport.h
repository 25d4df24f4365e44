/* openssh_transport: the back-end that runs the OpenSSH client: one master process for the connection, one
 * `ssh` per command. Needed for what libssh2 lacks: RSA keys before 1.11, certificates, hardware keys,
 * Kerberos.
 */
#pragma once

struct transport_ops;
extern const struct transport_ops openssh_transport_ops;
