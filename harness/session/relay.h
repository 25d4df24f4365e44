/* relay: passes what a session says through a pipe, from a child process that follows a run to its parent,
 * which shows it: journal lines, notes, and a few more kinds of lines that the two agree on.
 *
 * A line of the pipe is a tag and a text without newlines. Only a child of ours writes there, but the
 * contents come from a node: the reader decodes and escapes. The caller owns the descriptors.
 */
#pragma once

#include "harness/session/session.h"

enum relay_tag {
    RELAY_JOURNAL = 'J', /* a line of the run's journal */
    RELAY_NOTE = 'N',    /* a message of the session */
    RELAY_TITLE = 'T',   /* which run it is */
    RELAY_FAILED = 'F',  /* an exit code and the reason */
    RELAY_RESULT = 'R',  /* the outcome, a JSON object */
};

/* The child's end. Must not be moved once its view is in use. */
struct relay {
    FILE *out;
    struct session_view view; /* for session_options: sends journal lines and notes */
};

/* Takes fd. -1 with errno. */
int relay_open(struct relay *r, int fd);
void relay_send(struct relay *r, enum relay_tag tag, const char *text, size_t len);
/* RELAY_FAILED with the exit code of err. Returns that code. */
int relay_fail(struct relay *r, const struct err *err);

/* What relay_fail() sent. reason: char[ERR_MSG_MAX], printable. */
int relay_failure(const char *text, char *reason);

/* Reads once from a pipe into a stream, whose on_line gets the tag as a line's first byte. Returns 1 if there
 * may be more, 0 at the end, -1 with err. */
int relay_read(int fd, struct event_stream *lines, struct err *err);
