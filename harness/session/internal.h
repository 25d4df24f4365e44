/* session_internal: what the parts of session.h share: session.c follows and collects, session_start.c
 * starts.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_INTERNAL_H
#define KERNSWEEP_HARNESS_SESSION_INTERNAL_H

#include "harness/session/session.h"

void session_init(struct session *s, const struct session_options *opt);
/* One line for whoever looks at the run. */
void session_say(struct session *s, const char *line);
/* To the node of s->rec. */
int session_connect(struct session *s, struct err *err);
/* After the link was lost for the reason given, which is told. */
int session_reconnect(struct session *s, const struct err *why, struct err *err);

#endif
