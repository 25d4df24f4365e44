/* ssh_channel: runs one command on an authenticated session, in an exec channel. */
#pragma once

#include "harness/ssh/session.h"

/* Like transport_exec(). *usable: whether the session can run another command; if not, drop it. */
int ssh_channel_exec(struct ssh_session *s, const struct transport_cmd *cmd, struct transport_result *res,
                     bool *usable, struct err *err);
