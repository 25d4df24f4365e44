/* ssh_policy: what the user's ssh configuration asks for and libssh2 does not do. What it lists differs from
 * the client's own defaults, so that a distribution's ssh_config is no reason to leave libssh2.
 */
#ifndef KERNSWEEP_HARNESS_SSH_POLICY_H
#define KERNSWEEP_HARNESS_SSH_POLICY_H

#include "common/base/buf.h"

/* wanted, defaults: output of `ssh -G` with and without configuration files. Appends the options' names,
 * separated by ", ". Pure. */
void ssh_policy_unserved(const char *wanted, const char *defaults, struct buf *out);

#endif
