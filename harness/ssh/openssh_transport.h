/* openssh_transport: the back-end that runs the OpenSSH client: one master process for the connection, one
 * `ssh` per command. Needed for what libssh2 lacks: RSA keys before 1.11, certificates, hardware keys,
 * Kerberos.
 */
#ifndef KERNSWEEP_HARNESS_SSH_OPENSSH_TRANSPORT_H
#define KERNSWEEP_HARNESS_SSH_OPENSSH_TRANSPORT_H

struct transport_ops;
extern const struct transport_ops openssh_transport_ops;

#endif
