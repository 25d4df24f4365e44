/* relay: a pipe from a child process that follows a run to its parent, which displays it. It carries
 * journal lines, notes and a few more kinds of lines.
 *
 * Each line is a tag and a text without newlines. Only our own child writes to the pipe, but its contents
 * come from a node, so the reader decodes and escapes them. The caller owns the descriptors.
 */
#pragma once

#include "harness/session/session.h"

enum relay_tag {
    RELAY_JOURNAL = 'J', /* a line of the run's journal */
    RELAY_NOTE = 'N',    /* a message of the session */
    RELAY_TITLE = 'T',   /* the name of the run */
    RELAY_FAILED = 'F',  /* an exit code and the reason */
    RELAY_RESULT = 'R',  /* the outcome, a JSON object */
};

/* The child's end. Must not be moved once its view is in use. */
struct relay {
    FILE *out;
    struct session_view view; /* for session_options: sends journal lines and notes */
};

/* Takes ownership of fd. Returns -1 with errno. */
int relay_open(struct relay *r, int fd);
void relay_send(struct relay *r, enum relay_tag tag, const char *text, size_t len);
/* RELAY_FAILED with the exit code of err. Returns that code. */
int relay_fail(struct relay *r, const struct err *err);

/* What relay_fail() sent. reason: char[ERR_MSG_MAX], printable. */
int relay_failure(const char *text, char *reason);

/* Reads once from a pipe into a stream, whose on_line gets the tag as the first byte of the line. Returns
 * 1 if there may be more, 0 at the end, -1 with err. */
int relay_read(int fd, struct event_stream *lines, struct err *err);
