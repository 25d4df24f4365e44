/* ssh_agent: an ssh-agent client that lists keys and signs. libssh2's own client blocks on the agent's
 * socket, and a forwarded agent may be unreachable. Answers are bounded.
 */
#pragma once

#include "harness/ssh/known_hosts.h"
#include "harness/transport/io.h"

#include <stddef.h>
#include <stdint.h>

enum { SSH_AGENT_KEYS_MAX = 64, SSH_AGENT_MESSAGE_MAX = 256 << 10 };

struct ssh_agent_key {
    char type[KNOWN_KEY_TYPE_MAX];
    unsigned char *blob;
    size_t len;
};

struct ssh_agent {
    int fd; /* -1: no agent */
    const struct transport_scope *scope;
    int64_t deadline_ns;
    struct ssh_agent_key keys[SSH_AGENT_KEYS_MAX];
    size_t count;
};

/* Connects and lists the keys. An agent that is absent or does not answer in time has no keys. */
void ssh_agent_open(struct ssh_agent *a, const char *path, const struct transport_scope *scope);
void ssh_agent_close(struct ssh_agent *a);

/* *sig: the bare signature (malloc) over data, as libssh2's sign callback expects. -1 when the agent refuses.
 */
int ssh_agent_sign(struct ssh_agent *a, const struct ssh_agent_key *key, const unsigned char *data,
                   size_t len, unsigned char **sig, size_t *sig_len);
