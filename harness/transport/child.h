/* transport_child: run a local program with its three descriptors connected to a transport_cmd: the whole of
 * the local back-end, and how ssh, ssh -G and ProxyCommand are run. Knows nothing of nodes.
 *
 * The program gets its own session, so that the terminal's Ctrl-C is ours to handle, and no descriptor beyond
 * its three. Given up, its process group is killed. One that cannot be started ends with exit code 127.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_CHILD_H
#define KERNSWEEP_HARNESS_TRANSPORT_CHILD_H

#include "harness/transport/io.h"

#include <sys/types.h>

/* cwd: where it starts, or NULL. Results and errors as transport_exec(). */
int transport_child_run(const struct transport_cmd *cmd, const char *cwd, const struct transport_scope *scope,
                        struct transport_result *res, struct err *err);

/* transport_child_run() with its standard output, at most out->max bytes, appended to out. */
int transport_child_capture(const char *const *argv, double deadline_s, const struct transport_scope *scope,
                            struct buf *out, struct transport_result *res, struct err *err);

/* Starts argv with *fd as the other end of its standard input and output (a stream socket, non-blocking, ours
 * to close); its standard error goes to /dev/null. With keep_terminal it stays in our session, so that it can
 * ask the user something. It dies with us. */
int transport_child_start_on_socket(const char *const *argv, bool keep_terminal, pid_t *pid, int *fd,
                                    struct err *err);

/* Kills the process group and reaps it; 0 is fine. */
void transport_child_kill(pid_t pid);

/* True when `name` is an executable on PATH. */
bool transport_child_on_path(const char *name);

#endif
