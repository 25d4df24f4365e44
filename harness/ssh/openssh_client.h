/* openssh_client: what is asked of the `ssh` program beside channels: a connected master, the key that a host
 * presents, and what the log of a failed one means. Knows nothing of commands on the node.
 */
#ifndef KERNSWEEP_HARNESS_SSH_OPENSSH_CLIENT_H
#define KERNSWEEP_HARNESS_SSH_OPENSSH_CLIENT_H

#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"
#include "harness/transport/backend.h"

#include <stdint.h>
#include <sys/types.h>

enum { OPENSSH_DIR_MAX = 80, OPENSSH_LOG_MAX = 1 << 20 };

/* The process that holds the connection; channels reach it through the socket dir/s. */
struct openssh_master {
    pid_t pid;                 /* 0: none */
    int fd;                    /* closed by the other side when the process ends; -1: none */
    char dir[OPENSSH_DIR_MAX]; /* private folder, or empty */
    const struct ssh_config *config;
    const struct transport_scope *scope;
};

int openssh_master_start(struct openssh_master *m, int64_t deadline_ns, enum transport_failure *why,
                         struct err *err);
/* Kills it and removes its folder. */
void openssh_master_stop(struct openssh_master *m);
/* False when the process is gone. Waits up to wait_ms for that. */
bool openssh_master_alive(const struct openssh_master *m, int wait_ms);
/* out: char[64]; empty when the log does not tell. */
void openssh_master_fingerprint(const struct openssh_master *m, char *out);
/* The last thing the client said, made printable, for a message; "" when nothing. Appends to out. */
void openssh_master_last_words(const struct openssh_master *m, struct buf *out);

/* Fills known with the key that the host presents (one entry), without logging in or trusting it. */
int openssh_fetch_key(const struct ssh_config *config, int64_t deadline_ns,
                      const struct transport_scope *scope, struct known_hosts *presented, struct err *err);

#endif
