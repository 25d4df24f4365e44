/* openssh_client: uses of the `ssh` program other than running commands: a connection master, the key that a
 * host presents, and interpreting the log of a failed connection.
 */
#pragma once

#include "common/base/temporary.h"
#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"
#include "harness/transport/backend.h"

#include <stdint.h>
#include <sys/types.h>

enum { OPENSSH_LOG_MAX = 1 << 20 };

/* Makes the private folder of a connection, for its control socket and log, with a path short enough for
 * both, after removing those that killed commands left. The caller releases it. */
int openssh_folder_make(struct temporary *folder, struct err *err);

/* The process that holds the connection; clients reach it through the socket folder/s. */
struct openssh_master {
    pid_t pid; /* 0: none */
    int fd;    /* reaches end of file when the process ends; -1: none */
    struct temporary folder;
    const struct ssh_config *config;
    const struct transport_scope *scope;
};

int openssh_master_start(struct openssh_master *m, int64_t deadline_ns, enum transport_failure *why,
                         struct err *err);
/* Kills it and removes its folder. */
void openssh_master_stop(struct openssh_master *m);
/* Waits up to wait_ms for the process to end; false when it has ended. */
bool openssh_master_alive(const struct openssh_master *m, int wait_ms);
/* out: char[64]; empty if not in the log. */
void openssh_master_fingerprint(const struct openssh_master *m, char *out);
/* Appends the client's last message to out, made printable, if there is one. */
void openssh_master_last_words(const struct openssh_master *m, struct buf *out);

/* presented: receives the key that the host presents (one entry). Neither logs in nor trusts the key. */
int openssh_fetch_key(const struct ssh_config *config, int64_t deadline_ns,
                      const struct transport_scope *scope, struct known_hosts *presented, struct err *err);
