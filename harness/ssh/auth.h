/* ssh_auth: log in on a session whose host is verified: the agent's keys first, then identity files, asking
 * for a passphrase only on a terminal and only once in the life of a transport. Never passwords.
 */
#ifndef KERNSWEEP_HARNESS_SSH_AUTH_H
#define KERNSWEEP_HARNESS_SSH_AUTH_H

#include "harness/ssh/identity.h"
#include "harness/ssh/session.h"

/* What outlives a connection, so that a reconnect asks nothing again. */
struct ssh_passphrases {
    char text[SSH_FILES_MAX][SSH_PASSPHRASE_MAX]; /* of config->identity_files[i], or empty */
    bool declined[SSH_FILES_MAX];
};

/* Logs in by s->deadline_ns (moved by the time the user takes to type). */
int ssh_auth_login(struct ssh_session *s, struct ssh_passphrases *passphrases, enum transport_failure *why,
                   struct err *err);

#endif
