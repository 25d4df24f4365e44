/* err: a one-line error message (what went wrong, where, what to do next) and its kind.
 *
 * A struct err belongs to the caller and has a fixed size, so reporting an error never allocates. The
 * function that detects the error calls err_set(); callers further up may prepend context with err_wrap().
 * The kind determines the command's exit code (see proto.h); only commands and main print. Control characters
 * in the text are escaped.
 */
#pragma once

enum err_kind {
    ERR_NONE = 0,
    ERR_INPUT,       /* usage, plan, file contents: exit 2 */
    ERR_NODE,        /* the node is unreachable, busy or unfit: exit 3 */
    ERR_STORAGE,     /* local files, the store: exit 5 */
    ERR_INTERNAL,    /* a limit or an internal invariant: exit 5 */
    ERR_INTERRUPTED, /* the user asked to stop: exit 130 */
};

enum { ERR_MSG_MAX = 2048 };

struct err {
    enum err_kind kind;
    char msg[ERR_MSG_MAX];
};

/* Returns -1, so that callers can `return err_set(...)`. err may be NULL. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Does as err_set(), with ": <strerror(errnum)>" appended. */
int err_set_errno(struct err *err, enum err_kind kind, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Prepends "<context>: " to the message. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
