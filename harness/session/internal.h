/* session_internal: shared by session.c, which follows and collects, start.c, which starts, and measure.c,
 * which does it all. */
#pragma once

#include "harness/session/session.h"

void session_init(struct session *s, const struct session_options *opt);
/* Shows one line to the user. */
void session_say(struct session *s, const char *line);
/* Connects to the node of s->rec. */
int session_connect(struct session *s, struct err *err);
/* After a lost connection; why is shown to the user. */
int session_reconnect(struct session *s, const struct err *why, struct err *err);
