/* transport_child: a program of this machine as the far end of a transport_cmd: the whole of the local
 * back-end, and how ssh, ssh -G and ssh's channels are run. Knows nothing of nodes; how programs are started
 * and ended is common/base/run. Given up, its process group is killed.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_CHILD_H
#define KERNSWEEP_HARNESS_TRANSPORT_CHILD_H

#include "harness/transport/io.h"

/* cwd: where it starts, or NULL. Results and errors as transport_exec(), which traces the command. */
int transport_child_run(const struct transport_cmd *cmd, const char *cwd, const struct transport_scope *scope,
                        struct transport_result *res, struct err *err);

/* transport_child_run() with its standard output, at most out->max bytes, appended to out. */
int transport_child_capture(const char *const *argv, double deadline_s, const struct transport_scope *scope,
                            struct buf *out, struct transport_result *res, struct err *err);

#endif
