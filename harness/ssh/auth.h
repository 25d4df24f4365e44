/* ssh_auth: logs in to a verified host with the agent's keys, then with identity files. Prompts for a
 * passphrase only on a terminal, and only once per transport. Never uses passwords.
 */
#pragma once

#include "harness/ssh/private_key.h"
#include "harness/ssh/session.h"

/* Outlives a connection, so that a reconnect does not prompt again. */
struct ssh_passphrases {
    char text[SSH_FILES_MAX][SSH_PASSPHRASE_MAX]; /* for config->identity_files[i]; may be empty */
    bool declined[SSH_FILES_MAX];
};

/* Logs in by s->deadline_ns, which is extended by the time the user takes to type. */
int ssh_auth_login(struct ssh_session *s, struct ssh_passphrases *passphrases, enum transport_failure *why,
                   struct err *err);

/* Appends the keys, separated by ", ", that ssh would offer and libssh2 cannot use: to offer others before
 * them may cost refused logins. Nothing if the host is known to accept a key that libssh2 can use. */
void ssh_auth_unserved(const struct ssh_config *c, const struct transport_scope *scope, struct buf *out);
