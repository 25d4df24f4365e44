/* err: what went wrong, where, and what to do next, in one line.
 *
 * A struct err belongs to the caller and has a fixed size, so that failing never allocates. The function
 * that detects the failure calls err_set(); each caller on the way up may put context in front with
 * err_wrap(). The kind decides the exit code of the command (see proto.h); only cmd_*.c and main print.
 * Text of foreign origin is cleaned of control characters on the way in.
 */
#ifndef KERNSWEEP_COMMON_BASE_ERR_H
#define KERNSWEEP_COMMON_BASE_ERR_H

#include <stdarg.h>

enum err_kind {
    ERR_NONE = 0,
    ERR_INPUT,       /* usage, plan, file contents: exit 2 */
    ERR_NODE,        /* the node is unreachable, busy or unfit: exit 3 */
    ERR_STORAGE,     /* local files, the store: exit 5 */
    ERR_INTERNAL,    /* a limit or an invariant of ours: exit 5 */
    ERR_INTERRUPTED, /* the user asked to stop: exit 130 */
};

enum { ERR_MSG_MAX = 2048 };

struct err {
    enum err_kind kind;
    char msg[ERR_MSG_MAX];
};

/* Sets kind and message. Returns -1, so that `return err_set(...)` reads well. err may be NULL. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": <strerror(errnum)>" appended. */
int err_set_errno(struct err *err, enum err_kind kind, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "<context>: " in front of the message. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
