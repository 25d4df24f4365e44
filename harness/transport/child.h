/* transport_child: runs a transport_cmd as a local program, for the local back-end, ssh and ssh -G. Programs
 * are run by common/base/run. When a command is abandoned, its process group is killed.
 */
#pragma once

#include "harness/transport/io.h"

/* cwd: working folder, or NULL. Results and errors as for transport_exec(), which traces the command. */
int transport_child_run(const struct transport_cmd *cmd, const char *cwd, const struct transport_scope *scope,
                        struct transport_result *res, struct err *err);

/* transport_child_run() with its standard output, at most out->max bytes, appended to out. */
int transport_child_capture(const char *const *argv, double deadline_s, const struct transport_scope *scope,
                            struct buf *out, struct transport_result *res, struct err *err);
