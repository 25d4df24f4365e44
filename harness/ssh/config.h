/* ssh_config: the user's OpenSSH configuration for a node, as printed by `ssh -G`, or defaults where the
 * client is not installed. Strings are owned by the struct.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "harness/transport/io.h"

#include <stdbool.h>
#include <stddef.h>

enum { SSH_NAME_MAX = 256, SSH_PATH_MAX = 4096, SSH_FILES_MAX = 16, SSH_G_OUTPUT_MAX = 1 << 20 };

struct ssh_config {
    char *node;               /* as given by the user */
    char *file;               /* argument of ssh -F, or NULL */
    char alias[SSH_NAME_MAX]; /* the host part of node */
    char host[SSH_NAME_MAX];  /* where to connect */
    char user[SSH_NAME_MAX];
    char key_name[SSH_NAME_MAX + 16]; /* the name in known_hosts: host, [host]:port or HostKeyAlias */
    int port;
    char *identity_files[SSH_FILES_MAX + 1]; /* expanded, NULL-terminated; may not exist */
    char *known_hosts[SSH_FILES_MAX + 1];    /* the user's first; may not exist */
    bool identities_only;
    bool hash_known_hosts;
    char agent[SSH_PATH_MAX];         /* the agent's socket, or empty */
    char proxy_jump[SSH_PATH_MAX];    /* or empty */
    char proxy_command[SSH_PATH_MAX]; /* expanded, or empty */
    int family;                       /* AF_UNSPEC, AF_INET, AF_INET6 */
    char *printed;                    /* by `ssh -G`; NULL where the client is not installed */
};

/* node: an alias or [user@]host[:port]. ERR_INPUT when it or the configuration is malformed. */
int ssh_config_resolve(struct ssh_config *c, const char *node, const char *file,
                       const struct transport_scope *scope, struct err *err);
/* Appends what `ssh -G` prints for the node without configuration files, or nothing without the client. */
int ssh_config_defaults(const struct ssh_config *c, const struct transport_scope *scope, struct buf *out,
                        struct err *err);
/* Appends the names, separated by ", ", of the options that the user's configuration sets and libssh2 does
 * not support. Only options that differ from the client's own defaults count, so that a distribution's
 * ssh_config is no reason to avoid libssh2. wanted, defaults: the output of `ssh -G` with and without
 * configuration files. Pure. */
void ssh_config_unserved(const char *wanted, const char *defaults, struct buf *out);
/* Appends the keys for which libssh2 would only cost a refused login: those with a certificate, and those
 * whose names only ssh expands. */
void ssh_config_unserved_keys(const struct ssh_config *c, struct buf *out);
/* True for all nodes but "local". */
bool ssh_config_serves(const char *node);
void ssh_config_release(struct ssh_config *c);

/* "user@host:port" */
void ssh_config_describe(const struct ssh_config *c, char *out, size_t size);
